using System.Net;

namespace FastPort.Connections;

/// <summary>IP addresses and networks of the configuration. Immutable; safe from any thread.</summary>
internal sealed class AddressNetworks
{
    /// <summary>What an entry may be, for messages.</summary>
    public const string Allowed = "allowed: addresses such as 10.0.0.1 and networks such as 10.0.0.0/8";

    // Bits before the IPv4 address in an address that is written as IPv6.
    private const int MappedBits = 96;

    private readonly IPNetwork[] _networks;

    /// <param name="entries">Addresses and networks; see <see cref="TryParse"/>.</param>
    public AddressNetworks(IEnumerable<string> entries) => _networks = [.. entries.Select(static entry => TryParse(entry)!.Value)];

    public bool IsEmpty => _networks.Length == 0;

    /// <summary>
    /// Reads an address (<c>10.0.0.1</c>) or a network (<c>10.0.0.0/8</c>); null if the text is neither. An IPv4 address written as IPv6
    /// (<c>::ffff:10.0.0.1</c>) equals the plain one, because peers' addresses are compared in that form.
    /// </summary>
    public static IPNetwork? TryParse(string text)
    {
        if (!IPNetwork.TryParse(text, out IPNetwork network))
        {
            if (!IPAddress.TryParse(text, out IPAddress? address))
            {
                return null;
            }

            network = new IPNetwork(address, address.GetAddressBytes().Length * 8);
        }

        return network.BaseAddress.IsIPv4MappedToIPv6 && network.PrefixLength >= MappedBits
            ? new IPNetwork(network.BaseAddress.MapToIPv4(), network.PrefixLength - MappedBits)
            : network;
    }

    public bool Contain(EndPoint? peer)
    {
        foreach (IPNetwork network in _networks)
        {
            if (Contains(network, peer))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether a network has a peer's address.</summary>
    public static bool Contains(IPNetwork network, EndPoint? peer) =>
        peer is IPEndPoint { Address: { } address } && network.Contains(address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address);

    /// <summary>
    /// The network that counts as one peer in limits per address: the address itself, for IPv6 its /64, because a host usually has all of
    /// one. Null for peers without an IP address.
    /// </summary>
    public static IPNetwork? CountedAs(EndPoint? peer)
    {
        if (peer is not IPEndPoint { Address: { } address })
        {
            return null;
        }

        if (address.IsIPv4MappedToIPv6)
        {
            address = address.MapToIPv4();
        }

        Span<byte> bytes = stackalloc byte[16];
        if (!address.TryWriteBytes(bytes, out int written) || written < bytes.Length)
        {
            return new IPNetwork(address, 32);
        }

        // Without the scope id: an IPNetwork has none.
        bytes[8..].Clear();
        return new IPNetwork(new IPAddress(bytes), 64);
    }

    /// <summary>A network as people write it: the address alone if it is one host.</summary>
    public static string Show(IPNetwork network) =>
        network.PrefixLength == network.BaseAddress.GetAddressBytes().Length * 8 ? network.BaseAddress.ToString() : network.ToString();
}
