namespace FastPort.Routing;

/// <summary>
/// Values by prefix. Finding the values of all prefixes of a text takes one step per branch along that text, independent of the number of
/// prefixes. A change costs the length of its prefix.
/// <para>
/// Readers take no lock: a change builds new nodes, publishes them with one write, and never moves a node that a reader may use. A
/// concurrent reader sees each change entirely or not at all. The owner of the trie serializes changes with its own lock.
/// </para>
/// </summary>
/// <typeparam name="TValue">Type of the values.</typeparam>
internal sealed class PrefixTrie<TValue>
    where TValue : class
{
    private readonly Node _root = new([], null, new Children());

    /// <summary>The value of exactly this prefix; null if it has none.</summary>
    public TValue? Find(ReadOnlySpan<byte> prefix) => FindNode(prefix)?.Value;

    /// <summary>Any value; null if there is none. Only for the thread that changes the trie.</summary>
    public TValue? First()
    {
        Node node = _root;
        while (node.Value is null && node.Children.Count != 0)
        {
            node = node.Children.First;
        }

        return node.Value;
    }

    /// <summary>All values, in no order. Only for the thread that changes the trie.</summary>
    public List<TValue> ToList()
    {
        List<TValue> values = [];
        Stack<Node> left = new([_root]);
        while (left.TryPop(out Node? node))
        {
            if (node.Value is { } value)
            {
                values.Add(value);
            }

            foreach (Node child in node.Children)
            {
                left.Push(child);
            }
        }

        return values;
    }

    /// <summary>Sets the value of a prefix.</summary>
    public void Set(ReadOnlySpan<byte> prefix, TValue value)
    {
        Node node = _root;
        while (!prefix.IsEmpty)
        {
            node.ForgetDepth();
            Node? child = node.Children.Find(prefix[0]);
            if (child is null)
            {
                node.Children.Set(Leaf(prefix, value));
                return;
            }

            int common = prefix.CommonPrefixLength(child.Label);
            prefix = prefix[common..];
            if (common < child.Label.Length)
            {
                node.Children.Set(Fork(child, common, prefix, value));
                return;
            }

            node = child;
        }

        node.Value = value;
    }

    /// <summary>Removes the value of a prefix; does nothing if it has none.</summary>
    public void Remove(ReadOnlySpan<byte> prefix)
    {
        Node? above = null, parent = null, node = _root;
        while (!prefix.IsEmpty)
        {
            Node? child = node.Children.Find(prefix[0]);
            if (child is null || !prefix.StartsWith(child.Label))
            {
                return;
            }

            node.ForgetDepth();
            prefix = prefix[child.Label.Length..];
            (above, parent, node) = (parent, node, child);
        }

        node.Value = null;
        if (parent is null || node.Children.Count > 1)
        {
            return;
        }

        // A node without a value exists for its branches only: without children it is removed, with one child it is joined with it.
        if (node.Children.Count == 1)
        {
            parent.Children.Set(Joined(node));
            return;
        }

        parent.Children.Remove(node);
        if (above is not null && parent.Value is null && parent.Children.Count == 1)
        {
            above.Children.Set(Joined(parent));
        }
    }

    /// <summary>The values of all prefixes of a text, shortest first.</summary>
    public Matches Match(ReadOnlySpan<byte> text) => new(_root, text);

    /// <summary>
    /// The maximum number of values on one path below a prefix, without the prefix's own: how deeply the prefixes that begin with it are
    /// nested. Looks at the children of those nodes only below which there was a change since the last look. Only for the thread that
    /// changes the trie.
    /// </summary>
    /// <param name="prefix">The prefix.</param>
    /// <param name="visited">Number of visited nodes.</param>
    public int DepthBelow(ReadOnlySpan<byte> prefix, out int visited)
    {
        visited = 0;
        Node node = _root;
        while (!prefix.IsEmpty)
        {
            Node? child = node.Children.Find(prefix[0]);
            int common = child is null ? 0 : prefix.CommonPrefixLength(child.Label);
            if (common < prefix.Length && common < (child?.Label.Length ?? 1))
            {
                return 0;
            }

            prefix = prefix[common..];
            if (common < child!.Label.Length)
            {
                // The prefix ends within this label, so this node is below it.
                return child.Depth(ref visited);
            }

            node = child;
        }

        return node.DepthOfChildren(ref visited);
    }

    private Node? FindNode(ReadOnlySpan<byte> prefix)
    {
        Node? node = _root;
        while (node is not null && prefix.StartsWith(node.Label))
        {
            prefix = prefix[node.Label.Length..];
            if (prefix.IsEmpty)
            {
                return node;
            }

            node = node.Children.Find(prefix[0]);
        }

        return null;
    }

    private static Node Leaf(ReadOnlySpan<byte> label, TValue value) => new(label.ToArray(), value, new Children());

    // Replaces a node whose label shares only a part with a new prefix.
    private static Node Fork(Node node, int common, ReadOnlySpan<byte> below, TValue value)
    {
        var children = new Children();
        children.Set(new Node(node.Label[common..], node.Value, node.Children));
        if (!below.IsEmpty)
        {
            children.Set(Leaf(below, value));
        }

        return new Node(node.Label[..common], below.IsEmpty ? value : null, children);
    }

    // Replaces a node that has one child and no value.
    private static Node Joined(Node node)
    {
        Node child = node.Children.First;
        return new Node([.. node.Label, .. child.Label], child.Value, child.Children);
    }

    /// <summary>Enumerates the values along a text.</summary>
    internal ref struct Matches
    {
        private Node? _next;
        private ReadOnlySpan<byte> _rest;

        internal Matches(Node root, ReadOnlySpan<byte> text)
        {
            _next = root;
            _rest = text;
            Current = null!;
        }

        public TValue Current { get; private set; }

        public bool MoveNext()
        {
            while (_next is { } node && _rest.StartsWith(node.Label))
            {
                _rest = _rest[node.Label.Length..];
                _next = _rest.IsEmpty ? null : node.Children.Find(_rest[0]);
                if (node.Value is { } value)
                {
                    Current = value;
                    return true;
                }
            }

            _next = null;
            return false;
        }
    }

    /// <param name="label">The bytes from the parent to this node; empty for the root only.</param>
    /// <param name="value">The value of the prefix that ends here.</param>
    /// <param name="children">
    /// The nodes below. A replaced node and its successor share them while readers may still use the replaced one.
    /// </param>
    internal sealed class Node(byte[] label, TValue? value, Children children)
    {
        private TValue? _value = value;

        // The depth of the children; -1 if it is not known. As all members about depths only for the thread that changes the trie.
        private int _below = -1;

        public byte[] Label { get; } = label;

        public Children Children { get; } = children;

        public TValue? Value
        {
            get => Volatile.Read(ref _value);
            set => Volatile.Write(ref _value, value);
        }

        /// <summary>Something below this node changes.</summary>
        public void ForgetDepth()
        {
            // Not written if depths are not used: readers share the node.
            if (_below >= 0)
            {
                _below = -1;
            }
        }

        public int Depth(ref int visited)
        {
            visited++;
            return (_value is null ? 0 : 1) + DepthOfChildren(ref visited);
        }

        public int DepthOfChildren(ref int visited)
        {
            if (_below < 0)
            {
                int depth = 0;
                foreach (Node child in Children)
                {
                    depth = Math.Max(depth, child.Depth(ref visited));
                }

                _below = depth;
            }

            return _below;
        }
    }

    /// <summary>
    /// The children of a node by the first byte of their labels. A byte keeps its first place, so there are at most 256 places, and a
    /// concurrent reader always sees a consistent array.
    /// </summary>
    internal sealed class Children
    {
        private Places _places = Places.None;

        /// <summary>Number of children. All members except <see cref="Find"/> are only for the thread that changes the trie.</summary>
        public int Count { get; private set; }

        /// <summary>The only child, or the first of several.</summary>
        public Node First
        {
            get
            {
                Enumerator all = GetEnumerator();
                all.MoveNext();
                return all.Current;
            }
        }

        /// <summary>The child whose label begins with this byte. Any thread.</summary>
        public Node? Find(byte start)
        {
            Places places = Volatile.Read(ref _places);
            int place = places.Starts.AsSpan(0, Volatile.Read(ref places.Used)).IndexOf(start);
            return place < 0 ? null : Volatile.Read(ref places.Nodes[place]);
        }

        /// <summary>Adds a child, or replaces the one whose label begins with the same byte.</summary>
        public void Set(Node child)
        {
            byte start = child.Label[0];
            Places places = _places;
            int place = places.Starts.AsSpan(0, places.Used).IndexOf(start);
            if (place >= 0)
            {
                Count += places.Nodes[place] is null ? 1 : 0;
                Volatile.Write(ref places.Nodes[place], child);
                return;
            }

            if (places.Used == places.Starts.Length)
            {
                places = places.Larger();
            }

            places.Starts[places.Used] = start;
            places.Nodes[places.Used] = child;
            Volatile.Write(ref places.Used, places.Used + 1);
            Volatile.Write(ref _places, places);
            Count++;
        }

        public void Remove(Node child)
        {
            Places places = _places;
            Volatile.Write(ref places.Nodes[places.Starts.AsSpan(0, places.Used).IndexOf(child.Label[0])], null);
            Count--;
        }

        public Enumerator GetEnumerator() => new(_places);

        internal struct Enumerator(Places places)
        {
            private int _next;

            public Node Current { get; private set; } = null!;

            public bool MoveNext()
            {
                while (_next < places.Used)
                {
                    if (places.Nodes[_next++] is { } child)
                    {
                        Current = child;
                        return true;
                    }
                }

                return false;
            }
        }
    }

    internal sealed class Places(int capacity)
    {
        public static readonly Places None = new(0);

        public readonly byte[] Starts = new byte[capacity];
        public readonly Node?[] Nodes = new Node?[capacity];
        public int Used;

        public Places Larger()
        {
            var larger = new Places(Math.Max(1, Starts.Length * 2)) { Used = Used };
            Starts.CopyTo(larger.Starts, 0);
            Nodes.CopyTo(larger.Nodes, 0);
            return larger;
        }
    }
}
