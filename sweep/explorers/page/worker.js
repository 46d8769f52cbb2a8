// One worker: computes rectangles of a map, or one point with its motion.
"use strict";

let table, batch, tracer;

const ANSWERS = {
  begin(message) {
    table = message.table;
    batch = new Kernel(message.modules.batch, table);
    if (message.modules.trace) tracer = new Kernel(message.modules.trace, table);
    return { relaxed: batch.exports !== undefined && message.modules.batch.relaxed !== undefined };
  },
  rectangle({ columns, n }) {
    return batch.compute(columns, n);
  },
  point({ parameters, samples }) {
    const began = performance.now();
    const columns = Array.from(parameters, (value) => ({ values: [value], repeat: 1 }));
    const { status, outputs } = batch.compute(columns, 1);
    const answer = { status: status[0], outputs: outputs.map((values) => values[0]), trace: null };
    if (tracer) answer.trace = motion(parameters, samples);
    return { ...answer, milliseconds: performance.now() - began };
  },
};

// The motion over its default span, as `sweep trace` takes it; null where there is none.
function motion(parameters, samples) {
  const [begin, first, last] = tracer.span(parameters);
  if (!(begin <= first && first < last)) return null;
  const step = (last - first) / (samples - 1); // numpy.linspace, operation by operation
  const times = Float64Array.from({ length: samples }, (_, i) => i * step + first);
  times[samples - 1] = last;
  const items = table.items ? parameters[table.itemsColumn] : 0;
  try {
    return tracer.trace(parameters, times, items);
  } catch (error) {
    return { refused: error.message };
  }
}

onmessage = ({ data }) => {
  try {
    postMessage({ id: data.id, ...ANSWERS[data.kind](data) });
  } catch (error) {
    postMessage({ id: data.id, error: String(error.message ?? error) });
  }
};
