using System.Globalization;

namespace FastPort.Comparisons.Hostile;

/// <summary>
/// Last numbers of the addresses in the test's network. The server limits connections by address, so attackers have many, and good clients
/// come from an address of their own.
/// </summary>
internal static class HostileAddresses
{
    /// <summary>The good clients' address in a network of the test's own.</summary>
    public const int Good = 2;

    /// <summary>The first of the attackers' addresses.</summary>
    public const int First = 11;

    /// <summary>How many they have.</summary>
    public const int Count = 32;

    /// <summary>The proxy whose PROXY headers the server reads: the first address behind the attackers'.</summary>
    public const int Proxy = First + Count;

    /// <summary>The first of the addresses that nobody has, for forged sources.</summary>
    public const int FirstForged = 100;

    /// <summary>How many of those there are.</summary>
    public const int ForgedCount = 100;

    /// <summary>The first three numbers of loopback addresses.</summary>
    public const string Loopback = "127.0.0.";

    /// <summary>An address.</summary>
    public static string Of(string network, int last) => network + last.ToString(CultureInfo.InvariantCulture);
}
