using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Client.Certificates;

/// <summary>The names that certificates are made for.</summary>
internal static class SubjectNames
{
    /// <summary>The longest common name that X.509 allows.</summary>
    private const int MaxCommonName = 64;

    private const int MaxDnsName = 253;
    private const int MaxDnsLabel = 63;

    /// <summary>The names under which programs of this machine, and of its network, reach a server here.</summary>
    public static string[] OfThisMachine()
    {
        string machine = Dns.GetHostName();
        string[] local = ["localhost", "127.0.0.1", "::1"];

        // A machine's name may be unusable in a certificate.
        return IsDnsName(machine) && !local.Contains(machine, StringComparer.OrdinalIgnoreCase) ? [.. local, machine] : local;
    }

    /// <summary>Whether a server's certificate can have this name.</summary>
    public static bool IsServer(string name) => ReadAddress(name) is not null || IsDnsName(name);

    /// <summary>Whether a client's certificate, and its files, can have this name.</summary>
    public static bool IsClient(string name) =>
        name.Length is > 0 and <= MaxCommonName
        && name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '.' or '-' or '_' or '@');

    /// <summary>The names as an extension of a certificate.</summary>
    public static X509Extension Alternatives(IEnumerable<string> names)
    {
        var builder = new SubjectAlternativeNameBuilder();
        foreach (string name in names)
        {
            if (ReadAddress(name) is { } address)
            {
                builder.AddIpAddress(address);
            }
            else
            {
                builder.AddDnsName(name);
            }
        }

        return builder.Build();
    }

    // Only what is written in full: the parser also reads "1" as 0.0.0.1. Certificates have no zone (fe80::1%eth0).
    private static IPAddress? ReadAddress(string name) =>
        IPAddress.TryParse(name, out IPAddress? address)
        && (address.AddressFamily == AddressFamily.InterNetwork
            ? address.ToString() == name
            : name.AsSpan().IndexOfAny("%[") < 0)
            ? address
            : null;

    private static bool IsDnsName(string name)
    {
        string[] labels = name.Split('.');
        return name.Length <= MaxDnsName
            && Array.TrueForAll(labels, static label =>
                label.Length is > 0 and <= MaxDnsLabel
                && label.All(static c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_')
                && label[0] != '-'
                && label[^1] != '-')
            && !labels[^1].All(char.IsAsciiDigit);
    }
}
