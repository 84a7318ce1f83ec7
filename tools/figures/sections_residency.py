"""Sections of scripts/figures about residents: the policy, stalls, costs of the host, compression."""

from figure_runner import section


def name_of(text):
    return text.replace(" ", "_")


@section("policy", timed=False,
         says="restored bytes of Maar's policy, of the best simple rule and of the least possible, in "
              "twelve generated workloads; then with a tenth of the uses perturbed")
def policy(run):
    for mode, arguments in (("plain", ()), ("perturbed", ("--perturbed", "10"))):
        lines = [line for line in run.bench("residency", *arguments) if line["bench"] == "residency"]
        for line in lines:
            key = f"policy.{mode}.{name_of(line['workload'])}.{line['capacity']}"
            run.set(f"{key}.of_least", line["maar"])
            run.set(f"{key}.of_best", line["maar_to_best"])
        run.set(f"policy.{mode}.rows", len(lines))
        run.set(f"policy.{mode}.worst_of_best", max(line["maar_to_best"] for line in lines))
        run.set(f"policy.{mode}.worst_of_least", max(line["maar"] for line in lines))
        run.set(f"policy.{mode}.above_1_6",
                sum(1 for line in lines if line["maar"] > 1.6))


@section("stalls", timed=False,
         says="how long frames wait for residents in virtual time, beside LRU without prefetch, on four "
              "simulated devices")
def stalls(run):
    few = ("--frames", "4") if run.quick else ()
    lines = [line for line in run.bench("stalls", *few) if line["of"] == "frame"]
    for name in sorted({line["workload"] for line in lines}):
        of_workload = [line for line in lines if line["workload"] == name]
        key = f"stalls.{name_of(name)}"
        run.set(f"{key}.of_oldest_min", min(line["of_oldest"] for line in of_workload))
        run.set(f"{key}.of_oldest_max", max(line["of_oldest"] for line in of_workload))
    fitting = [line["p99_us"] for line in lines if line["fits"] == "yes"]
    run.set("stalls.fitting.rows", len(fitting))
    run.set("stalls.fitting.p99_us", max(fitting, default=0))


@section("residents", timed=True,
         says="time of the host with 100,000 residents: a use of 1,000, the same ones or others each "
              "time, and an update")
def residents(run):
    keys = {"use, the same": "hot", "use, rotating": "rotating", "update": "update"}
    for line in run.bench("residents"):
        if line["bench"] == "residents" and line["what"] in keys:
            run.set(f"residents.{keys[line['what']]}.us", line["us"])
            run.set(f"residents.{keys[line['what']]}.allocations", line["allocations"])


@section("codec", timed="partly", says="how far contents shrink, and how fast what does not is refused")
def codec(run):
    lines = [line for line in run.bench("codec")
             if line["bench"] == "codec" and line["way"].startswith("maar")]
    for line in lines:
        key = f"codec.{name_of(line['data'])}.{name_of(line['way'])}"
        run.set(f"{key}.ratio", line["ratio"])
        run.set(f"{key}.pack_gbps_timed", line["pack_gbps"])
    run.set("codec.least_ratio", min(line["ratio"] for line in lines))
