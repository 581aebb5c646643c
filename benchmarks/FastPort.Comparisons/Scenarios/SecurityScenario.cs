using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Encrypted sessions and handshakes against Kestrel's HTTPS connection middleware, and what rates and a policy cost.</summary>
internal sealed class SecurityScenario : ContestScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int SmallPayload = 64;

    // Anonymous peers of this machine may send Echo, and nothing else.
    private const string Policy = """{ "rules": [{ "for": ["anonymous"], "send": ["0x0100"] }] }""";

    private static readonly int[] Sizes = [64, 1024, 8192];

    private static readonly Dictionary<int, Target> EchoTargets = new()
    {
        [64] = Target.AtLeast(1.3),
        [1024] = Target.AtLeast(1.5),
        [8192] = Target.AtLeast(1.5),
    };

    public override string Name => "security";

    public override string Description =>
        "TLS 1.3 against Kestrel's HTTPS connection middleware, echo and full handshakes; FastPort with rates and a policy against itself "
        + "without.";

    protected override string Method =>
        "One load client in C for both servers, on OpenSSL (benchmarks/Native/echo_load.c and tls_handshakes.c); one certificate (ECDSA "
        + "P-256) and one cipher suite (AES-256-GCM). A message of a handshake row is a connection: connect, a handshake that resumes "
        + "nothing, one echo of 64 B, both ends close; its round trip lasts from connect to the echo. The policy allows Echo to "
        + "anonymous peers; rates of all kinds by address and in total are counted and never exceeded. Every reply is compared with its "
        + "request, byte for byte.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        var certificate = TestCertificate.Create(context.Bench);
        Candidate fastPort = candidates.FastPortTls(certificate);
        Candidate kestrel = candidates.KestrelTls(certificate);
        foreach (int size in context.Options.SizesOf(Sizes))
        {
            yield return Duel(
                $"TLS echo, {PayloadSize.Text(size)}, {Connections} x {InFlight}",
                Load(size, context, certificate.CertificateFile),
                fastPort,
                kestrel,
                EchoTargets.GetValueOrDefault(size),
                context);
        }

        yield return Duel(
            $"TLS handshakes, {Connections} clients",
            new HandshakeLoad(context.Bench, context.Native, Connections, certificate.CertificateFile),
            fastPort,
            kestrel,
            Target.AtLeast(1.0),
            context);

        string policyFile = context.Bench.NewPath("policy.json");
        File.WriteAllText(policyFile, Policy);
        yield return Duel(
            $"rates and policy, {PayloadSize.Text(SmallPayload)}, {Connections} x {InFlight}",
            Load(SmallPayload, context),
            candidates.FastPortLimited(policyFile),
            candidates.FastPort,
            Target.AtLeast(0.95),
            context);
    }

    private static EchoLoad Load(int size, ScenarioContext context, string? authorityFile = null) =>
        new(context.Bench, context.Native, Connections, InFlight, size) { AuthorityFile = authorityFile };

    private static Workload Duel(
        string title, ILoadProgram load, Candidate subject, Candidate reference, Target? target, ScenarioContext context) =>
        new(
            title,
            [new ServerContestant(subject, load, context), new ServerContestant(reference, load, context)],
            [
                new RatioQuestion(Metric.Throughput, subject.Name, reference.Name, target),
                new RatioQuestion(Metric.ServerCpuPerMessage, subject.Name, reference.Name),
            ])
        {
            HasOneClient = true,
        };
}
