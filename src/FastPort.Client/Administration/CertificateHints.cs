using FastPort.Client.Certificates;

namespace FastPort.Client.Administration;

/// <summary>The commands to run after creating certificates: how a server uses them, and how a client reaches it.</summary>
internal static class CertificateHints
{
    /// <summary>Writes the two commands.</summary>
    /// <param name="output">Where to.</param>
    /// <param name="directory">Where the certificates are.</param>
    /// <param name="name">A name of the server.</param>
    /// <param name="client">A client with a certificate; null if none has.</param>
    public static void Write(TextWriter output, CertificateDirectory directory, string name, string? client)
    {
        string authority = Quoted("ca.pem");
        string demand = client is null
            ? string.Empty
            : $" FastPort__Tls__ClientCertificates=Required FastPort__Tls__ClientAuthorityFile={authority}";
        string identity = client is null
            ? string.Empty
            : $" --tls-cert {Quoted($"client-{client}.pem")} --tls-key {Quoted($"client-{client}.key")}";
        output.WriteLine("Start the server:");
        output.WriteLine(
            $"  FastPort__Tls__CertificateFile={Quoted("server.pem")} FastPort__Tls__KeyFile={Quoted("server.key")}{demand} "
            + "dotnet run -c Release --project src/FastPort.Server -- --listen tls://0.0.0.0:6628");
        output.WriteLine("Load it:");
        output.WriteLine(
            $"  dotnet run -c Release --project src/FastPort.Client -- load --server {new Endpoint("tls", name, Endpoint.DefaultPort)} "
            + $"--tls-ca {authority}{identity}");

        // As a shell reads it.
        string Quoted(string file)
        {
            string path = directory.PathOf(file);
            return path.All(static c => char.IsAsciiLetterOrDigit(c) || "/._-@:".Contains(c, StringComparison.Ordinal))
                ? path
                : $"'{path.Replace("'", "'\\''", StringComparison.Ordinal)}'";
        }
    }
}
