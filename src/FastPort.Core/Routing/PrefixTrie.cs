namespace FastPort.Routing;

/// <summary>
/// Values by prefix. Finding all values whose prefix a text begins with costs one step for each branching along that text, however many prefixes there
/// are. Nodes never change: a change makes those from the root to its place anew and then publishes the root, so readers take no lock and see one
/// moment. Changes exclude each other by a lock of whoever owns the trie.
/// </summary>
/// <typeparam name="TValue">What hangs on a prefix.</typeparam>
internal sealed class PrefixTrie<TValue>
    where TValue : class
{
    private Node _root = new([], null, [], []);

    /// <summary>The value of exactly this prefix; null where it has none.</summary>
    public TValue? Find(ReadOnlySpan<byte> prefix)
    {
        Node? node = Volatile.Read(ref _root);
        while (node is not null && prefix.StartsWith(node.Label))
        {
            prefix = prefix[node.Label.Length..];
            if (prefix.IsEmpty)
            {
                return node.Value;
            }

            node = node.ChildAt(prefix[0]);
        }

        return null;
    }

    /// <summary>Sets the value of a prefix.</summary>
    public void Set(ReadOnlySpan<byte> prefix, TValue value) => Volatile.Write(ref _root, _root.With(prefix, value));

    /// <summary>Removes the value of a prefix; does nothing where it has none.</summary>
    public void Remove(ReadOnlySpan<byte> prefix)
    {
        if (Find(prefix) is not null)
        {
            Volatile.Write(ref _root, _root.Without(prefix) ?? new Node([], null, [], []));
        }
    }

    /// <summary>The values of all prefixes of a text, the shortest first.</summary>
    public Matches Match(ReadOnlySpan<byte> text) => new(Volatile.Read(ref _root), text);

    /// <summary>Goes down along a text.</summary>
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
                _next = _rest.IsEmpty ? null : node.ChildAt(_rest[0]);
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

    /// <param name="Label">The bytes from the parent to here; empty for the root alone.</param>
    /// <param name="Value">The value of the prefix that ends here.</param>
    /// <param name="Starts">The first byte of each child's label.</param>
    /// <param name="Children">The children, in no order.</param>
    internal sealed record Node(byte[] Label, TValue? Value, byte[] Starts, Node[] Children)
    {
        public Node? ChildAt(byte start)
        {
            int place = Starts.AsSpan().IndexOf(start);
            return place < 0 ? null : Children[place];
        }

        /// <param name="rest">What is left of the prefix at this node's label.</param>
        /// <param name="value">Its value.</param>
        public Node With(ReadOnlySpan<byte> rest, TValue value)
        {
            int common = rest.CommonPrefixLength(Label);
            ReadOnlySpan<byte> below = rest[common..];
            if (common < Label.Length)
            {
                Node lower = this with { Label = Label[common..] };
                var fork = new Node(Label[..common], null, [lower.Label[0]], [lower]);
                return below.IsEmpty ? fork with { Value = value } : fork.WithChild(Leaf(below, value));
            }

            return below.IsEmpty ? this with { Value = value }
                : ChildAt(below[0]) is { } child ? WithChild(child.With(below, value))
                : WithChild(Leaf(below, value));
        }

        /// <param name="rest">What is left of the prefix, which has a value, at this node's label.</param>
        /// <returns>Null where nothing is left here.</returns>
        public Node? Without(ReadOnlySpan<byte> rest)
        {
            ReadOnlySpan<byte> below = rest[Label.Length..];
            if (below.IsEmpty)
            {
                return (this with { Value = null }).Simplified();
            }

            int place = Starts.AsSpan().IndexOf(below[0]);
            Node? child = Children[place].Without(below);
            return child is not null
                ? WithChild(child)
                : (this with
                {
                    Starts = [.. Starts[..place], .. Starts[(place + 1)..]],
                    Children = [.. Children[..place], .. Children[(place + 1)..]],
                }).Simplified();
        }

        private static Node Leaf(ReadOnlySpan<byte> label, TValue value) => new(label.ToArray(), value, [], []);

        // A node without a value is there for its branches: with none it goes, with one it becomes that.
        private Node? Simplified()
        {
            if (Value is not null || Children.Length > 1)
            {
                return this;
            }

            return Children.Length == 0 ? null
                : Label.Length == 0 ? this
                : Children[0] with { Label = [.. Label, .. Children[0].Label] };
        }

        private Node WithChild(Node child)
        {
            int place = Starts.AsSpan().IndexOf(child.Label[0]);
            if (place < 0)
            {
                return this with { Starts = [.. Starts, child.Label[0]], Children = [.. Children, child] };
            }

            var children = (Node[])Children.Clone();
            children[place] = child;
            return this with { Children = children };
        }
    }
}
