using FastPort.Redis.Wire;
using FastPort.Routing;

namespace FastPort.Redis.Topics;

/// <summary>The topics that the other nodes want. <see cref="_gate"/> guards all changes; <see cref="Match"/> takes no lock.</summary>
/// <param name="maxPrefixes">Prefixes of one node that are kept. Defaults to a million.</param>
internal sealed class InterestTable(int maxPrefixes = 1_000_000)
{
    /// <summary>Nodes whose interests are kept; a publication has a mark for each on its stack.</summary>
    public const int MaxNodes = 4096;

    /// <summary>Words that hold a mark for each node.</summary>
    public const int MarkWords = MaxNodes / 64;

    private const int RemovedAtOnce = 256;

    private readonly Lock _gate = new();
    private readonly PrefixTrie<InterestedNode[]> _trie = new();
    private readonly Dictionary<ulong, InterestedNode> _nodes = [];
    private readonly Stack<int> _freePlaces = new();
    private int _places;

    /// <summary>Prefixes of one node that are kept.</summary>
    public int MaxPrefixes => maxPrefixes;

    /// <summary>Number of prefixes that other nodes want, each counted once for each node.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _nodes.Values.Sum(static node => node.Prefixes.Count);
            }
        }
    }

    /// <summary>A node has joined. Does nothing if it has before.</summary>
    /// <param name="instance">The node.</param>
    /// <param name="isMember">Called under the lock, so that no node stays that has left in the meantime.</param>
    public void AddNode(ulong instance, Func<ulong, bool> isMember)
    {
        lock (_gate)
        {
            // Nodes that are being removed have their places until the end.
            if (!_nodes.ContainsKey(instance) && (_freePlaces.Count != 0 || _places < MaxNodes) && isMember(instance))
            {
                _nodes[instance] = new InterestedNode(instance, _freePlaces.TryPop(out int free) ? free : _places++);
            }
        }
    }

    /// <summary>
    /// A node has left: all its interests are forgotten, a few at a time. There may be a million of them, and neither the thread that
    /// renews the lease nor the one that receives batches must be blocked.
    /// </summary>
    public async Task RemoveNodeAsync(ulong instance)
    {
        InterestedNode? node;
        lock (_gate)
        {
            if (!_nodes.Remove(instance, out node))
            {
                return;
            }
        }

        // No other thread can access the node's table from here on.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        foreach (byte[][] some in node.Prefixes.Keys.Chunk(RemovedAtOnce))
        {
            lock (_gate)
            {
                foreach (byte[] prefix in some)
                {
                    Leave(prefix, node);
                }
            }
        }

        lock (_gate)
        {
            _freePlaces.Push(node.Place);
        }
    }

    /// <inheritdoc cref="TryAdd(ulong, ReadOnlySpan{byte}, out int)"/>
    public bool TryAdd(ulong instance, ReadOnlySpan<byte> prefix) => TryAdd(instance, prefix, out _);

    /// <summary>A node wants a prefix. False if it is not kept: the node is unknown or has too many, or the prefix is too long.</summary>
    /// <param name="instance">The node.</param>
    /// <param name="prefix">The prefix.</param>
    /// <param name="refused">If the node has too many: how many of them are not kept, including this one. Otherwise 0.</param>
    public bool TryAdd(ulong instance, ReadOnlySpan<byte> prefix, out int refused)
    {
        refused = 0;
        lock (_gate)
        {
            if (!_nodes.TryGetValue(instance, out InterestedNode? node))
            {
                return false;
            }

            if (node.Prefixes.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(prefix, out byte[]? known, out _))
            {
                node.Prefixes[known] = node.Telling;
                return true;
            }

            if (prefix.Length > PublishEntry.MaxTopicBytes)
            {
                return false;
            }

            if (node.Prefixes.Count >= maxPrefixes)
            {
                refused = ++node.Refused;
                return false;
            }

            node.Prefixes.Add(prefix.ToArray(), node.Telling);
            _trie.Set(prefix, [.. _trie.Find(prefix) ?? [], node]);
            return true;
        }
    }

    /// <summary>
    /// A node no longer wants a prefix. True if there is room again and some of its prefixes were refused: it must be asked for everything.
    /// </summary>
    public bool Remove(ulong instance, ReadOnlySpan<byte> prefix)
    {
        lock (_gate)
        {
            if (!_nodes.TryGetValue(instance, out InterestedNode? node))
            {
                return false;
            }

            if (node.Prefixes.GetAlternateLookup<ReadOnlySpan<byte>>().Remove(prefix))
            {
                Leave(prefix, node);
            }

            return HasRoomForRefused(node);
        }
    }

    /// <summary>A node begins to send all of its interests. Its earlier interests stay until the end, so that nothing is missed.</summary>
    public void Begin(ulong instance)
    {
        lock (_gate)
        {
            if (_nodes.TryGetValue(instance, out InterestedNode? node))
            {
                node.Telling++;
                node.Refused = 0;
            }
        }
    }

    /// <summary>
    /// A node has sent all of its interests since <see cref="Begin"/>: the rest is forgotten. True as for <see cref="Remove"/>.
    /// </summary>
    public bool End(ulong instance)
    {
        lock (_gate)
        {
            if (!_nodes.TryGetValue(instance, out InterestedNode? node))
            {
                return false;
            }

            // A dictionary may lose keys while it is enumerated.
            foreach ((byte[] prefix, int told) in node.Prefixes)
            {
                if (told != node.Telling)
                {
                    node.Prefixes.Remove(prefix);
                    Leave(prefix, node);
                }
            }

            return HasRoomForRefused(node);
        }
    }

    /// <summary>The nodes that want a topic, once each. Any thread.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="marks">Empty marks, <see cref="MarkWords"/> of them.</param>
    public Matches Match(ReadOnlySpan<byte> topic, Span<ulong> marks) => new(_trie.Match(topic), marks);

    // Once: what is sent then is counted again. Not for the first prefix that leaves, or a prefix that comes and goes would cause a full
    // repetition each time.
    private bool HasRoomForRefused(InterestedNode node)
    {
        if (node.Refused == 0 || node.Prefixes.Count >= maxPrefixes - (maxPrefixes / 20))
        {
            return false;
        }

        node.Refused = 0;
        return true;
    }

    // Readers may be using the former array.
    private void Leave(ReadOnlySpan<byte> prefix, InterestedNode node)
    {
        InterestedNode[] nodes = _trie.Find(prefix)!;
        if (nodes.Length == 1)
        {
            _trie.Remove(prefix);
        }
        else
        {
            _trie.Set(prefix, Array.FindAll(nodes, one => one != node));
        }
    }

    /// <summary>Enumerates the nodes of each prefix that have no mark yet, and marks them.</summary>
    internal ref struct Matches(PrefixTrie<InterestedNode[]>.Matches prefixes, Span<ulong> marks)
    {
        private readonly Span<ulong> _marks = marks;
        private PrefixTrie<InterestedNode[]>.Matches _prefixes = prefixes;
        private InterestedNode[] _nodes = [];
        private int _next;

        /// <summary>The node's instance.</summary>
        public ulong Current { get; private set; }

        public bool MoveNext()
        {
            while (true)
            {
                while (_next < _nodes.Length)
                {
                    InterestedNode node = _nodes[_next++];
                    ref ulong word = ref _marks[node.Place / 64];
                    ulong mark = 1UL << (node.Place % 64);
                    if ((word & mark) == 0)
                    {
                        word |= mark;
                        Current = node.Instance;
                        return true;
                    }
                }

                if (!_prefixes.MoveNext())
                {
                    return false;
                }

                _nodes = _prefixes.Current;
                _next = 0;
            }
        }
    }
}
