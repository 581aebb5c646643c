using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>Many clients that connect, shake hands, echo once and close, again and again (benchmarks/Native/tls_handshakes.c).</summary>
/// <param name="bench">Cores and processes.</param>
/// <param name="native">The compiled programs.</param>
/// <param name="clients">Clients at a time.</param>
/// <param name="authorityFile">File with the certificate that servers show.</param>
internal sealed class HandshakeLoad(Workbench bench, NativePrograms native, int clients, string authorityFile) : ILoadProgram
{
    public IReadOnlyList<int> Cores { get; init; } = bench.Pinning.Client;

    public string? Missing() => native.Missing(native.TlsHandshakes);

    public IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds)
    {
        var endpoint = new Uri(server.Endpoint);
        return
        [
            native.TlsHandshakes,
            "--host", endpoint.Host,
            "--port", Invariant.Text(endpoint.Port),
            "--authority", authorityFile,
            "--clients", Invariant.Text(clients),
            "--warmup", Invariant.Text(leadIn),
            "--duration", Invariant.Text(seconds),
            "--server-pid", Invariant.Text(server.Id),
            .. bench.Pinning.IsPinned ? (string[])["--watch-cores", string.Join(',', bench.Pinning.Both)] : [],
        ];
    }
}
