"""
Master curves
=============

Over ξ = β/δ, the energies of Fig. 3 of Hanisch, Richter, Li 2020 collapse onto one curve as long as
β is small; for large β each δ has its own plateau. A rational function with few coefficients is
fitted to the energies at δ = 1e-4.
"""

from matplotlib.figure import Figure

import sweep

ds = sweep.run("hanisch_fig3", store="master_curves.zarr", progress=False)
curve = sweep.fit(ds, "xi", at={"delta": 1e-4})
print(f"largest error of the fit: {curve.error.greatest:.1e}")

figure = Figure()
axes = figure.subplots()
for delta in ds.delta.values:
    one = ds.sel(delta=delta)
    axes.loglog(one.beta / delta, one.normalized_energy * delta, label=f"δ = {delta:g}")
axes.set(xlabel="ξ = β/δ", ylabel="normalized energy × δ", ylim=(1e-4, 2))
axes.legend()
figure.savefig("master_curves.png")

# %%
# The explorer of this sweep:

sweep.explore("master_curves.zarr", "master_curves.html")
