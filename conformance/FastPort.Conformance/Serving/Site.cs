using System.Globalization;

namespace FastPort.Conformance.Serving;

/// <summary>Where the servers of a run listen: a transport, with a folder for sockets and certificates.</summary>
internal sealed class Site : IDisposable
{
    /// <summary>The transports that a run may name.</summary>
    public static readonly string[] Transports = ["tcp", "tls", "unix", "inproc", "ws", "wss"];

    private static int _last;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("fastport-conformance-");
    private readonly Lazy<ServerCertificate> _certificate;

    /// <param name="transport">One of <see cref="Transports"/>.</param>
    public Site(string transport)
    {
        Transport = transport;
        _certificate = new Lazy<ServerCertificate>(() => new ServerCertificate(_folder.FullName));
    }

    public string Transport { get; }

    public bool IsEncrypted => Transport is "tls" or "wss";

    public ServerCertificate Certificate => _certificate.Value;

    /// <summary>An endpoint that no other server has.</summary>
    public string NewEndpoint()
    {
        string number = Interlocked.Increment(ref _last).ToString(CultureInfo.InvariantCulture);
        return Transport switch
        {
            "unix" => $"unix://{Path.Combine(_folder.FullName, number)}",
            "inproc" => $"inproc://conformance-{Environment.ProcessId}-{number}",
            "ws" or "wss" => $"{Transport}://127.0.0.1:0/conformance",
            _ => $"{Transport}://127.0.0.1:0",
        };
    }

    public void Dispose() => _folder.Delete(recursive: true);
}
