using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>Finds the tags' namespace, whose index differs between servers.</summary>
internal static class Namespaces
{
    // NamespaceArray (OPC 10000-5, 6.3.2).
    private static readonly NodeId[] Array = [new NodeId(0, 2255)];

    public static async Task<ushort> FindAsync(OpcUaClient client)
    {
        DataValue[] values = await client.ReadAsync(Array);
        int index = System.Array.IndexOf(values[0].Value.GetArray<string>() ?? [], TagValues.NamespaceUri);
        return index >= 0 ? (ushort)index : throw new PeerException($"The server has no namespace {TagValues.NamespaceUri}.");
    }
}
