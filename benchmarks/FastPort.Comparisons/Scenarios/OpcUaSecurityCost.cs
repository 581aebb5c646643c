using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What SignAndEncrypt adds to a Read of 100 tags, in CPU time of both ends, against the bare ciphers of the same bytes.</summary>
internal sealed class OpcUaSecurityCost(ScenarioContext context)
{
    private const string Title = "Read of 100 tags, 16 outstanding, what SignAndEncrypt adds";
    private const string Plain = "FastPort, None";
    private const string Secure = "FastPort, SignAndEncrypt";
    private const string Ciphers = "AES and HMAC of the same bytes";

    // Of 100 tags of type Int32 with node ids of four bytes: headers of the chunk and of the message, then 18 bytes a tag in the request
    // and 22 in the response, and the signature.
    private const int RequestBytes = 8 + 66 + 16 + (100 * 18) + 32;
    private const int ResponseBytes = 8 + 28 + 4 + (100 * 22) + 4 + 32;

    public Workload Workload { get; } = Create(context);

    /// <summary>Adds the ratio, (with security - without) / ciphers, to the workload's report.</summary>
    public static void AddRatio(List<WorkloadReport> workloads)
    {
        int at = workloads.FindIndex(static workload => workload.Title == Title);
        if (at < 0)
        {
            return;
        }

        if (workloads[at].Contestants.Count < 3)
        {
            workloads[at] = workloads[at] with { NotMeasured = 1 };
            return;
        }

        var target = Target.AtMost(1.5);
        string key = Metric.BothCpuPerMessage.Key;
        double[][] runs = [.. workloads[at].Contestants.Select(contestant => contestant.Runs.Select(run => run[key]).ToArray())];
        double[] ratios = [.. runs[0].Select((plain, i) => (runs[1][i] - plain) / runs[2][i])];
        double[] medians = [.. runs.Select(static values => Spread.Of(values).Median)];
        var pairwise = Spread.Of(ratios);
        workloads[at] = workloads[at] with
        {
            Ratios =
            [
                new RatioReport
                {
                    Metric = Metric.BothCpuPerMessage.Title,
                    Subject = "what SignAndEncrypt adds",
                    Reference = Ciphers,
                    Pairwise = pairwise,
                    OfMedians = (medians[1] - medians[0]) / medians[2],
                    Target = target,
                    Reached = target.IsReachedBy(pairwise.Median),
                },
            ],
        };
    }

    private static Workload Create(ScenarioContext context)
    {
        var peers = new OpcUaPeers(context);
        (IReadOnlyList<int> server, IReadOnlyList<int> client) = (context.Bench.Pinning.Server, context.Bench.Pinning.Client);
        return new Workload(
            Title,
            [
                peers.Own(new OpcUaAsk("read", 100, 16, OpcUaAsk.None), server, client, Plain),
                peers.Own(new OpcUaAsk("read", 100, 16, OpcUaAsk.Secure), server, client, Secure),
                new CipherContestant(RequestBytes, ResponseBytes, context) { Name = Ciphers },
            ],
            []);
    }
}
