using System.Collections.Concurrent;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The nodes of one namespace by their numbers: pages of small numbers, a dictionary for the rest. One writer, any readers.
/// </summary>
internal sealed class NumericNodes
{
    private const int PageBits = 10;
    private const int MaxPages = 1024;

    private readonly ConcurrentDictionary<uint, Node> _rest = new();
    private volatile Node?[]?[] _pages = [];

    public Node? Find(uint number)
    {
        Node?[]?[] pages = _pages;
        uint page = number >> PageBits;
        if (page < (uint)pages.Length)
        {
            return pages[page] is { } nodes ? Volatile.Read(ref nodes[number & ((1u << PageBits) - 1)]) : null;
        }

        return page < MaxPages ? null : _rest.GetValueOrDefault(number);
    }

    public void Add(Node node)
    {
        uint page = node.Id.Number >> PageBits;
        if (page >= MaxPages)
        {
            _rest[node.Id.Number] = node;
            return;
        }

        Node?[]?[] pages = _pages;
        if (page >= pages.Length)
        {
            Array.Resize(ref pages, (int)page + 1);
        }

        Node?[] nodes = pages[page] ?? new Node?[1 << PageBits];
        Volatile.Write(ref nodes[node.Id.Number & ((1u << PageBits) - 1)], node);
        Volatile.Write(ref pages[page], nodes);
        _pages = pages;
    }
}
