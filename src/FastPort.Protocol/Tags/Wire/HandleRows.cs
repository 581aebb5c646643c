namespace FastPort.Protocol.Tags.Wire;

/// <summary>Rows and their handles for one message, up to a size in bytes. Used again for the next one.</summary>
internal sealed class HandleRows
{
    // Bytes of a message beside its rows.
    private const int HeaderBytes = 64;

    private readonly List<uint> _handles = [];
    private readonly TagSamples _one = new();

    public TagSamples Samples { get; } = new();

    public int Count => _handles.Count;

    public uint[] Handles => [.. _handles];

    /// <summary>Whether a message of this many bytes has room for a row at all.</summary>
    public bool Fits(TagSamples samples, int row, int limit)
    {
        _one.Clear();
        _one.Add(samples, row);
        return _one.MaxSize <= limit - HeaderBytes;
    }

    /// <summary>
    /// Adds a row, if the message has room for it. One that is too large for any message loses its value and gets the status
    /// <see cref="TagStatus.BadResponseTooLarge"/>.
    /// </summary>
    /// <param name="handle">The tag's handle.</param>
    /// <param name="samples">The samples that have the row.</param>
    /// <param name="row">The row.</param>
    /// <param name="limit">Bytes of a message at most.</param>
    /// <param name="wanted">Bytes of a message with several rows at most. Defaults to the limit.</param>
    public bool TryAdd(uint handle, TagSamples samples, int row, int limit, int wanted = int.MaxValue)
    {
        if (!Fits(samples, row, limit))
        {
            TagSample bare = new(default, TagStatus.BadResponseTooLarge, samples.GetSourceTime(row), samples.GetServerTime(row));
            _one.Clear();
            _one.Add(bare);
        }

        if (Count != 0 && Samples.MaxSize + _one.MaxSize + ((Count + 1) * sizeof(uint)) > Math.Min(limit, wanted) - HeaderBytes)
        {
            return false;
        }

        _handles.Add(handle);
        Samples.Add(_one, 0);
        return true;
    }

    public void Clear()
    {
        _handles.Clear();
        Samples.Clear();
    }
}
