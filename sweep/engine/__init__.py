"""What runs a sweep: a ledger, a loop over an executor, and who computes: threads or processes."""

from sweep.engine.crews import Crew as Crew
from sweep.engine.crews import Notify as Notify
from sweep.engine.crews import OpenBackend as OpenBackend
from sweep.engine.crews import crew_for as crew_for
from sweep.engine.crews import needs_backend_here as needs_backend_here
from sweep.engine.crews import refuse_in_worker_process as refuse_in_worker_process
from sweep.engine.crews import threads_for as threads_for
from sweep.engine.crews import threads_of_gpu as threads_of_gpu
from sweep.engine.crews import usable_processors as usable_processors
from sweep.engine.ledger import Progress as Progress
from sweep.engine.ledger import Results as Results
from sweep.engine.ledger import Summary as Summary
from sweep.engine.loop import Report as Report
from sweep.engine.loop import run as run
