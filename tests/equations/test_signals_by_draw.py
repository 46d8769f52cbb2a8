"""Signals by draw in models from files: against sums of cosines, SciPy's splines and its solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import sweep
from sweep.equations.system_file import system_of_text
from sweep.errors import ConfigError
from sweep.file import load
from sweep.file.model_file import read_model, read_system_file
from sweep.kernel import forcing
from sweep.kernel.cpu import CpuBackend, CpuTarget
from sweep.kernel.gpu import GpuBackend
from sweep.model.table import Status
from sweep.points.chunking import chunk_at
from sweep.points.columns import points
from sweep.request.chunk import Column
from sweep.results.summary import contents
from tests.cases import Case, bits_of, differing
from tests.equations.examples import methods
from tests.equations.forced_models import DRAW, SIGNAL, field, oscillator, swept, watched
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import target_faults
from tests.oracles.random_forcing import amplitudes, random_phasors, samples, spline

DURATION, N_SAMPLES, N_HARMONICS = 20.0, 1024, 100
TIMES = [0.0131, 3.7, 7.7772, 11.0, 20.0]
DRAWS = [0, 1, 12_345, 2**32 - 1]


def _signal(draw: int, element: int = 0, **law: Any) -> CubicSpline:
    """What the signal of `SIGNAL` is, with other densities, seed, law or phasors."""
    densities = law.pop("densities", SIGNAL["spectrum"]["densities"][0])
    law = {"seed": 0, "normal": False, **law}
    phasors = law.pop("phasors", None)
    if phasors is None:
        phasors = random_phasors(N_HARMONICS, draw=draw, element=element, **law)
    frequencies = SIGNAL["spectrum"]["frequencies"]
    amplitude = amplitudes(frequencies, densities, DURATION, N_HARMONICS)
    return spline(samples(phasors, amplitude, N_SAMPLES), DURATION)


def _run(source: Mapping[str, Any]) -> Any:
    outputs = sweep.run(source, store=None, progress=False)
    assert (outputs["status"] == Status.ok).all()
    return outputs


def _case(source: Mapping[str, Any]) -> Case:
    planned = load(source).sweep
    whole = chunk_at((0,) * len(planned.grid.shape), planned.grid.shape, planned.grid.shape)
    return Case("forced", planned, points(planned, whole))


@pytest.mark.parametrize("law", [{}, {"seed": 2**32 - 1, "amplitudes": "normal"}])
def test_a_signal_is_the_spline_through_sums_of_cosines(law: dict[str, Any]) -> None:
    outputs = _run(swept(watched(**law), {"draw": DRAWS, "window_end": TIMES}))
    for row, draw in enumerate(DRAWS):
        expected = _signal(draw, seed=law.get("seed", 0), normal=bool(law))
        values = expected(TIMES), expected(TIMES, 1)
        size = np.abs(expected(expected.x)).max()
        np.testing.assert_allclose(outputs["force_at_end"][row], values[0], atol=1e-12 * size)
        np.testing.assert_allclose(outputs["rate_at_end"][row], values[1], atol=1e-11 * size)


def test_its_mean_square_is_the_integral_of_the_spectrum() -> None:
    """But for the spline between the samples, which weakens the highest frequency by 1e-4."""
    spectrum = {"frequencies": [0.0, 1.0, 2.0, 4.0], "densities": [[0.0, 2.0, 1.0, 0.0]]}
    source = swept(watched(spectrum=spectrum), {"draw": list(range(10))})
    np.testing.assert_allclose(_run(source)["mean_square"], 1 + 1.5 + 1, rtol=1e-4)


def test_other_outputs_see_the_signal() -> None:
    """Its greatest value, and the events at its zeros."""
    model = watched()
    model["events"] = [{"name": "rise", "when": "force", "direction": "rising"}]
    model["outputs"] |= {"rises": {"count": "rise"}, "peak": {"maximum": "force", "unit": "N"}}
    outputs = _run(swept(model, {"draw": [1, 2]}))
    times = np.linspace(0, DURATION, 400_001)
    for row, draw in enumerate([1, 2]):
        values = _signal(draw)(times)
        assert outputs["rises"][row] == np.count_nonzero((values[:-1] < 0) & (values[1:] >= 0))
        assert float(outputs["peak"][row]) == pytest.approx(values.max(), rel=1e-7)


def test_signals_of_a_model_are_independent_and_have_parameters_of_their_own() -> None:
    model = watched()
    model["signals"]["other"] = {**model["signals"]["force"], "draw": "second"}
    model["parameters"]["second"] = {}
    model["outputs"]["other_at_end"] = {"final": "other", "unit": "N"}
    model["derivatives"]["impulse"] = "force + other"
    axes = {"case": {"draw": {"values": [3, 3, 8]}, "second": {"values": [3, 8, 3]}}}
    outputs = _run({**swept(model, {}), "axes": axes})
    for row, (draw, second) in enumerate([(3, 3), (3, 8), (8, 3)]):
        force, other = float(_signal(draw)(20.0)), float(_signal(second, signal=1)(20.0))
        found = [float(outputs[name][row]) for name in ("force_at_end", "other_at_end")]
        assert found == pytest.approx([force, other], abs=1e-11)


def test_the_elements_of_two_indices_are_counted_with_the_last_one_fastest() -> None:
    model = field(2)
    model["indices"] = {"place": ["lower", "upper"], "part": 3, "other": {"same_as": "place"}}
    model["signals"]["force"]["over"] = ["place", "part"]
    model["derivatives"] = {"impulse": "sum(part, force)"}
    model["outputs"] = {
        "all": {"over": ["place", "part"], "final": "force", "unit": "N"},
        "one": {"final": "force[upper, 1]", "unit": "N"},
    }
    outputs = _run(swept(model, {"draw": [6]}))
    expected = [float(_signal(6, element)(20.0)) for element in range(6)]
    np.testing.assert_allclose(outputs["all"][0].values.ravel(), expected, atol=1e-11)
    assert float(outputs["one"][0]) == float(outputs["all"][0, 1, 1])


def test_its_spectrum_may_be_discontinuous_at_its_ends() -> None:
    """A harmonic at the end of the spectrum counts; 0 Hz does not."""
    spectrum = {"frequencies": [0.0, 0.5], "densities": [[3.0, 3.0]]}
    mean_square = _run(swept(watched(spectrum=spectrum), {"draw": [4]}))["mean_square"]
    np.testing.assert_allclose(mean_square, 10 * 3.0 / DURATION, rtol=1e-7)


def _state(curve: CubicSpline, end: float) -> NDArray[np.float64]:
    """The oscillator at the end, by SciPy."""
    force: Any = curve
    return solve_ivp(
        lambda t, y: [y[1], float(force(t)) - 0.6 * y[1] - 81.0 * y[0]], (0, end), np.zeros(2),
        method="DOP853", rtol=1e-11, atol=1e-13, max_step=DURATION / N_SAMPLES,
    ).y[:, -1]  # fmt: skip


@methods("dop853", "rk54")
def test_motions_are_those_of_another_solver(method: str) -> None:
    controls = {"step": 1e-3} if method == "rk4" else {}
    outputs = _run(swept(oscillator(), {"draw": [3, 8]}, method, window_end=9.1, **controls))
    for row, draw in enumerate([3, 8]):
        found = [float(outputs[name][row]) for name in ("x_at_end", "v_at_end")]
        assert found == pytest.approx(_state(_signal(draw), 9.1), rel=1e-6)


def test_the_work_of_friction_is_that_of_the_force_less_other_losses() -> None:
    model = oscillator("w**2*x - friction*tanh(v/0.01)")
    model["outputs"]["rubbed"] = {"mean": "friction*tanh(v/0.01)*v", "unit": "m^2/s^3"}
    model["parameters"]["speed"] = {"unit": "m/s", "default": 0.01}
    text = "friction*tanh(v/speed)"
    model["derivatives"]["v"] = f"force - damping*v - w**2*x - {text}"
    model["outputs"]["rubbed"]["mean"] = f"{text}*v"
    outputs = _run(swept(model, {"draw": [0, 1, 2]}, friction=0.2, tolerance=1e-11))
    expected = outputs["input"] - outputs["damped"] - outputs["stored"]
    assert (outputs["rubbed"] > 1e-3).all()
    np.testing.assert_allclose(outputs["rubbed"], expected, rtol=1e-6)


def test_a_linear_oscillator_has_the_root_mean_square_of_its_transfer_function() -> None:
    """Over 200 draws, after its start has decayed to e**-6."""
    model = oscillator(duration=60.0, amplitudes="normal", rate=50.0)
    source = swept(model, {"draw": list(range(200))}, tolerance=1e-7, window_start=20.0)
    source["parameters"]["window_end"] = 60.0
    outputs = _run(source)
    omega = 2 * np.pi * np.arange(1, 301) / 60
    spectrum = SIGNAL["spectrum"]
    power = amplitudes(spectrum["frequencies"], spectrum["densities"][0], 60.0, 300) ** 2 / 2
    gain = 1 / np.abs(81.0 - omega**2 + 0.6j * omega) ** 2
    for name, expected in {"square_x": gain, "square_v": gain * omega**2}.items():
        values = outputs[name].values
        error = values.std(ddof=1) / np.sqrt(values.size)
        assert abs(values.mean() - np.sum(power * expected)) < 3 * error < 0.1 * values.mean()


def test_each_element_of_an_index_has_its_own_spectrum_and_phases() -> None:
    densities = [[1.0, 3.0, 0.5], [0.2, 0.0, 2.0], [5.0, 5.0, 0.0]]
    model = field(3, spectrum={**SIGNAL["spectrum"], "densities": densities}, seed=9)
    outputs = _run(swept(model, {"draw": [2, 77], "window_end": TIMES}))
    for row, draw in enumerate([2, 77]):
        for element in range(3):
            curve = _signal(draw, element, densities=densities[element], seed=9)
            found = outputs["force_at_end"][row].sel(place=element)
            np.testing.assert_allclose(found, curve(TIMES), atol=1e-11)


MATRIX = [[1.0, 0.8, 0.3], [0.8, 1.0, 0.5], [0.3, 0.5, 1.0]]


@pytest.mark.parametrize("law", ["fixed", "normal"])
@pytest.mark.parametrize("given", ["matrix", "table", "length"])
def test_elements_are_correlated(law: str, given: str) -> None:
    position = [0.0, 1.5, 2.0]
    tables = {
        "matrix": {"over": ["place", "other"], "values": MATRIX},
        "position": {"over": "place", "values": position, "unit": "m"},
    }
    by_length = {"length": 2.0, "positions": "position"}
    correlation = {"matrix": MATRIX, "table": "matrix", "length": by_length}[given]
    model = field(3, correlation=correlation, amplitudes=law)
    outputs = _run(swept({**model, "tables": tables}, {"draw": [5], "window_end": TIMES}))
    distance = np.abs(np.subtract.outer(position, position))
    matrix = np.exp(-distance / 2) if given == "length" else np.array(MATRIX)
    independent = [
        random_phasors(N_HARMONICS, seed=0, draw=5, element=k, normal=law == "normal")
        for k in range(3)
    ]
    for element, phasors in enumerate(np.linalg.cholesky(matrix) @ np.array(independent)):
        found = outputs["force_at_end"][0].sel(place=element)
        np.testing.assert_allclose(found, _signal(5, phasors=phasors)(TIMES), atol=1e-11)


def test_products_of_elements_have_the_correlations_as_means() -> None:
    outputs = _run(swept(field(3, correlation=MATRIX), {"draw": list(range(200))}, tolerance=1e-7))
    products = outputs["product"].values  # (draw, place, other)
    spectrum = SIGNAL["spectrum"]
    amplitude = amplitudes(spectrum["frequencies"], spectrum["densities"][0], 20.0, N_HARMONICS)
    expected = np.array(MATRIX) * np.sum(amplitude**2) / 2
    error = products.std(axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(products.mean(axis=0) - expected) < 3 * error + 2e-4 * expected).all()


def test_elements_that_are_wholly_correlated_are_equal() -> None:
    outputs = _run(swept(field(3, correlation=[[1.0] * 3] * 3), {"draw": [1]}))
    values = outputs["force_at_end"][0].values
    assert values.tolist() == [values[0]] * 3


def test_bits_depend_on_no_width_budget_neighbour_or_gpu() -> None:
    rows = {
        "draw": [1, 1, 5, 0, 2, 5, 7, 7, 7, 30, 31],
        "window_end": np.linspace(3, 12, 11).tolist(),
    }
    source = swept(field(2, correlation=[[1.0, 0.5], [0.5, 1.0]]), {}, "rk54", tolerance=1e-6)
    source["axes"] = {"case": {name: {"values": each} for name, each in rows.items()}}
    del source["parameters"]["window_end"]
    case = _case(source)
    small = CpuTarget(width=2, pack=1)
    bits = bits_of(case.sweep, case.points, small)
    assert (bits["status"] == Status.ok).all()
    assert target_faults(case, bits, small) == []
    assert differing(bits, bits_of(case.sweep, case.points)) == []  # and on the widest
    device = TwinDevice()
    on_gpu = dict(GpuBackend(device, 50).compute(case.sweep, case.points).arrays)
    assert differing(bits, on_gpu) == []
    table = 16 * N_SAMPLES * 2
    device = TwinDevice(memory=4 * 3 * table)  # of which a quarter is for tables
    on_gpu = dict(GpuBackend(device, 50).compute(case.sweep, case.points).arrays)
    assert differing(bits, on_gpu) == []
    spectra = [units for entry, units in device.launches if entry == "tribosweep_forcing"]
    assert max(spectra) == 3 * N_SAMPLES // 2


def test_tables_take_a_bounded_memory_and_each_is_made_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = swept(watched(), {"window_end": [5.0, 9.0], "draw": list(range(8))}, "rk54")
    case = _case(source)
    whole = bits_of(case.sweep, case.points)
    made: list[int] = []
    monkeypatch.setattr(forcing, "MAX_BYTES", 3 * 16 * N_SAMPLES)
    request = forcing.Forcing.request

    def counted(of: forcing.Forcing, n_realisations: int, **arrays: int) -> Any:
        made.append(n_realisations)
        return request(of, n_realisations, **arrays)

    monkeypatch.setattr(forcing.Forcing, "request", counted)
    computed = CpuBackend().compute(case.sweep, case.points).arrays
    assert differing(whole, dict(computed)) == []
    assert max(made) <= 3
    assert sum(made) == 8  # although the axis of draws is the inner one


@pytest.mark.parametrize("chunk_points", [48, 96, 10_000])
def test_results_do_not_depend_on_chunks_and_workers(chunk_points: int, tmp_path: Path) -> None:
    source = swept(watched(), {"draw": list(range(130)), "window_end": [1.0, 2.0]}, "rk54")
    stored = sweep.run(
        {**source, "run": {"chunk_points": chunk_points, "workers": 2, "backend": "cpu"}},
        store=tmp_path / "s.zarr", progress=False,
    )  # fmt: skip
    case = _case(source)
    expected = bits_of(case.sweep, case.points)
    for name in ("force_at_end", "mean_square"):
        assert stored[name].values.ravel().tobytes() == expected[name].tobytes()


def test_draws_may_be_sampled_and_reduced() -> None:
    sample = {"points": 256, "method": "random", "seed": 1, "draw": {"uniform": [0, 999]}}
    source = swept(watched(), {}, "rk54", tolerance=1e-6)
    outputs = _run({**source, "sample": sample})
    for k in (0, 100, 255):
        curve = _signal(int(outputs["draw"][k]))
        assert float(outputs["force_at_end"][k]) == pytest.approx(float(curve(20.0)), abs=1e-11)
    reduced = {**source, "sample": sample, "reduce": {"over": ["point"], "force_at_end": ["mean"]}}
    mean = sweep.run(reduced, store=None, progress=False)["force_at_end_mean"]
    assert float(mean) == pytest.approx(float(outputs["force_at_end"].mean()), rel=1e-12)


def test_a_trace_shows_the_signal() -> None:
    model = watched()
    model["definitions"] = {"shown": {"value": "force", "unit": "N"}}
    seen = sweep.trace(swept(model, {}, draw=12))
    np.testing.assert_allclose(seen["shown"], _signal(12)(seen["time"].values), atol=1e-11)


def test_a_motion_beyond_the_duration_is_outside_validity() -> None:
    source = swept(watched(), {"window_end": [20.0, 20.001]}, "rk54")
    outputs = sweep.run(source, store=None, progress=False)
    assert outputs["status"].values.tolist() == [Status.ok, Status.outside_validity]
    assert contents(outputs).causes == {"force ends at 20.0 s, before the motion": 1}


def test_steps_do_not_pass_over_a_period() -> None:
    """A body at rest takes long steps, but the force is not overlooked."""
    spectrum = {"frequencies": [4.0, 5.0], "densities": [[1e-6, 1e-6]]}
    model = watched(spectrum=spectrum)
    outputs = _run(swept(model, {"draw": [6]}, "rk54", tolerance=1e-3))
    np.testing.assert_allclose(outputs["mean_square"], 21e-6 / DURATION, rtol=0.02)


@pytest.mark.parametrize("draw", [-1, 0.5, 2**32])
def test_what_is_no_draw_is_refused(draw: float) -> None:
    with pytest.raises(ConfigError, match="draw"):
        load(swept(watched(), {}, draw=draw))


def test_what_is_no_draw_of_a_point_is_outside_validity() -> None:
    case = _case(swept(watched(), {"draw": [0.0, 2.0, 3.0, 4.0]}, "rk54"))
    draws = Column(np.array([0.0, 2.0, -1.0, 0.25]))
    wrong = replace(case.points, columns={**case.points.columns, "draw": draws})
    right, bad = Status.ok, Status.outside_validity
    for backend in (CpuBackend(), GpuBackend(TwinDevice())):
        status = backend.compute(case.sweep, wrong).arrays["status"]
        assert status.tolist() == [right, right, bad, bad]


def test_the_recipe_has_the_law_and_no_samples(tmp_path: Path) -> None:
    (tmp_path / "psd.csv").write_text("f (kHz);S [kN^2 s]\n0,0005;1e-6\n0,002;3e-6\n0,005;5e-7\n")
    spectrum = {"file": "psd.csv", "decimal": ","}
    model = read_model(watched(spectrum=spectrum, rate=1e5), tmp_path)
    frequencies = [0.5, 2.0, 5.0]
    plain = watched(rate=1e5, spectrum={"frequencies": frequencies, "densities": [1.0, 3.0, 0.5]})
    assert model.text == read_model(plain, tmp_path).text
    assert len(model.text) < 2000
    system = system_of_text(model.text)
    assert system.text == model.text
    assert system.drawn[0].frequencies == tuple(frequencies)
    (tmp_path / "psd.csv").write_text("f,a,b\n0.5,1,2\n5,1,3\n")
    both = read_system_file(field(2, spectrum="psd.csv"), tmp_path).drawn[0]
    assert both.densities == ((1.0, 1.0), (2.0, 3.0))
    assert both.elements == ("force[0]", "force[1]")


ROWS = {"frequencies": [0.0, 5.0]}
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"spectrum": None}, "signals.force.spectrum: missing"),
    ({"spectrum": 3}, "signals.force.spectrum: 3 is not a table"),
    ({"spectrum": ROWS}, "signals.force.spectrum.densities: missing"),
    ({"spectrum": {**ROWS, "densities": [[1, 2]], "unit": 1}}, "spectrum.unit: there is no such"),
    ({"spectrum": {**ROWS, "densities": [[1, "2"]]}}, "densities is not a list of lists of fin"),
    ({"spectrum": {"frequencies": 5, "densities": [[1]]}}, "frequencies is not a list of finite"),
    ({"spectrum": {"frequencies": [5], "densities": [[1]]}}, "spectrum: 1 rows; give 2 to"),
    ({"spectrum": {**ROWS, "densities": [[1, 2, 3]]}}, "has 3 numbers, and there are 2 freq"),
    ({"spectrum": {**ROWS, "densities": [[1, -2]]}}, "column 1 of densities has the negative"),
    ({"spectrum": {**ROWS, "densities": [[1, 2], [1, 3]]}}, "2 columns of densities; give 1"),
    ({"spectrum": {"frequencies": [-1, 5], "densities": [1, 1]}}, "frequency -1.0 is negative"),
    ({"spectrum": {"frequencies": [5, 5], "densities": [1, 1]}}, "do not increase: row 2 has 5"),
    ({"spectrum": {**ROWS, "densities": [0, 0]}}, "no multiple of 1/duration has any power"),
    ({"spectrum": "none.csv"}, "signals.force.spectrum: file '.*none.csv' cannot be read"),
    ({"spectrum": {"file": "one.csv"}}, "spectrum: file 'one.csv' has one column"),
    ({"spectrum": "bare.csv"}, "spectrum: file 'bare.csv' begins with numbers; name the columns"),
    ({"spectrum": "wrong.csv"}, "wrong.csv', header: 'S .N/Hz.' has the wrong dimension"),
    ({"spectrum": {"file": "one.csv", "first": 2}}, "spectrum: first: there is no such key"),
    ({"duration": 0}, "signals.force.duration: 0.0 is not above 0"),
    ({"duration": None}, "signals.force.duration: missing"),
    ({"rate": None}, "signals.force.rate: missing"),
    ({"rate": 49.0}, "rate: 49.0 is below 10 times the highest frequency .* give at least 50"),
    ({"rate": 1e9}, "rate: duration times rate gives 2e.10 samples"),
    ({"draw": None}, "signals.force.draw: missing"),
    ({"draw": "drow"}, "signals.force.draw: 'drow' is not a parameter; did you mean 'draw'"),
    ({"draw": "length"}, "signals.force.draw: length has the unit m"),
    ({"draw": "below"}, "signals.force.draw: below has a range or a default that is no draw"),
    ({"draw": "half"}, "signals.force.draw: half has a range or a default that is no draw"),
    ({"seed": -1}, "signals.force.seed: -1 is not a whole number from 0"),
    ({"seed": 2**32}, "signals.force.seed: 4294967296 is not a whole number from 0"),
    ({"amplitudes": "gauss"}, "signals.force.amplitudes: 'gauss' is unknown"),
    ({"over": "mode"}, "signals.force.over: this model has no indices"),
    ({"correlation": [[1]]}, "signals.force.correlation: the signal is not over one index|needs"),
    ({"times": [0, 1]}, "signals.force.times: there is no such key"),
]  # fmt: skip
PARAMETERS = {
    "draw": DRAW, "length": {"unit": "m"}, "below": {"maximum": -1}, "half": {"default": 0.5},
}  # fmt: skip


def _changed(model: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A model whose signal has these keys, or lacks those that are None."""
    force = {**model["signals"]["force"], **changes}
    signals = {"force": {key: value for key, value in force.items() if value is not None}}
    return {**model, "signals": signals, "parameters": PARAMETERS}


@pytest.mark.parametrize(("changes", "gist"), FAULTS)
def test_a_faulty_signal_is_reported_once(
    changes: dict[str, Any], gist: str, tmp_path: Path
) -> None:
    (tmp_path / "one.csv").write_text("f\n1\n2\n")
    (tmp_path / "bare.csv").write_text("0.5,1\n5,1\n")
    (tmp_path / "wrong.csv").write_text("f [Hz],S [N/Hz]\n1,1\n2,1\n")
    with pytest.raises(ConfigError, match=gist) as caught:
        read_system_file(_changed(watched(), changes), tmp_path)
    assert len(caught.value.faults) == 1


CORRELATIONS: list[tuple[Any, str]] = [
    ([[1.0, 0.5]], "correlation: a list of 1, but place has 2 values"),
    ([[1.0, 0.5], [0.4, 1.0]], "not symmetric: row 2 has 0.4 where row 1 has 0.5"),
    ([[2.0, 0.5], [0.5, 1.0]], "the diagonal has 2.0 in row 1"),
    ([[1.0, 1.5], [1.5, 1.0]], "row 2 contradicts those above it"),
    ("matrx", "'matrx' is not a table; did you mean 'matrix'"),
    ("position", "table position does not have 2 by 2 numbers"),
    ({"length": 0, "positions": [0, 1]}, "correlation.length: 0.0 is not above 0"),
    ({"length": 1, "positions": [0]}, "correlation.positions: a list of 1, but place has 2"),
    ({"length": 1}, "correlation.positions: missing"),
    ({"positions": [0, 1]}, "correlation.length: missing"),
]


@pytest.mark.parametrize(("correlation", "gist"), CORRELATIONS)
def test_a_faulty_correlation_is_reported_once(correlation: Any, gist: str) -> None:
    tables = {
        "matrix": {"over": ["place", "other"], "values": [[1, 0], [0, 1]]},
        "position": {"over": "place", "values": [0, 1]},
    }
    with pytest.raises(ConfigError, match=gist) as caught:
        read_system_file({**field(2, correlation=correlation), "tables": tables}, Path())
    assert len(caught.value.faults) == 1


def test_correlations_may_have_rounding_errors() -> None:
    rounded = [[1 - 2e-16, 0.5 + 2e-16], [0.5, 1 + 2e-16]]
    products = [
        _run(swept(field(2, correlation=matrix), {}, "rk54", tolerance=1e-6))["product"]
        for matrix in (rounded, [[1.0, 0.5], [0.5, 1.0]])
    ]
    np.testing.assert_allclose(*products, rtol=1e-13)


def test_all_faults_are_reported_at_once() -> None:
    changes = {"spectrum": {**ROWS, "densities": [1]}, "rate": -1, "draw": "x", "seed": 0.5}
    with pytest.raises(ConfigError) as caught:
        read_system_file(_changed(watched(), {**changes, "sed": 1}), Path())
    places = [fault.where.removeprefix("signals.force.") for fault in caught.value.faults]
    assert places == ["spectrum", "rate", "draw", "seed", "sed"]


def test_realisations_of_all_signals_fit_a_limit() -> None:
    model = watched(rate=1e5)
    model["signals"] |= {"other": model["signals"]["force"], "third": model["signals"]["force"]}
    with pytest.raises(ConfigError, match="signals: 6,291,456 samples of all elements"):
        read_system_file(model, Path())
