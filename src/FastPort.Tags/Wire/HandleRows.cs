namespace FastPort.Tags.Wire;

/// <summary>Rows and their handles for one message, up to a size in bytes. Reused for the next message.</summary>
internal sealed class HandleRows
{
    // Bytes of a message without its rows.
    private const int HeaderBytes = 64;

    // The memory of larger rows is not kept for the next ones: there may be many instances.
    private const int MaxKeptBytes = 256 * 1024;

    private readonly List<uint> _handles = [];
    private TagSamples _one = new();

    public TagSamples Samples { get; private set; } = new();

    public int Count => _handles.Count;

    public uint[] Handles => [.. _handles];

    /// <summary>Whether a message of this many bytes has room for a row at all.</summary>
    public bool Fits(TagSamples samples, int row, int limit)
    {
        _one = _one.Cleared(MaxKeptBytes);
        _one.Add(samples, row);
        return FitsOne(limit);
    }

    /// <summary>
    /// Adds a row, if the message has room for it. One that is too large for any message loses its value and gets the status
    /// <see cref="TagStatus.BadResponseTooLarge"/>.
    /// </summary>
    /// <param name="handle">The tag's handle.</param>
    /// <param name="samples">The samples that have the row.</param>
    /// <param name="row">The row.</param>
    /// <param name="limit">Maximum bytes of a message.</param>
    public bool TryAdd(uint handle, TagSamples samples, int row, int limit)
    {
        _one = _one.Cleared(MaxKeptBytes);
        _one.Add(samples, row);
        return TryAddOne(handle, limit, limit);
    }

    /// <summary>As the other overload, for a sample; several rows have a separate limit.</summary>
    /// <param name="handle">The tag's handle.</param>
    /// <param name="sample">The row.</param>
    /// <param name="limit">Maximum bytes of a message.</param>
    /// <param name="wanted">Maximum bytes of a message with several rows.</param>
    public bool TryAdd(uint handle, in TagSample sample, int limit, int wanted)
    {
        _one = _one.Cleared(MaxKeptBytes);
        _one.Add(sample);
        return TryAddOne(handle, limit, wanted);
    }

    /// <summary>Removes all rows; the memory is kept for the next ones unless it is large.</summary>
    public void Clear()
    {
        _handles.Clear();
        Samples = Samples.Cleared(MaxKeptBytes);
        _one = _one.Cleared(MaxKeptBytes);
    }

    private bool FitsOne(int limit) => _one.MaxSize <= limit - HeaderBytes;

    private bool TryAddOne(uint handle, int limit, int wanted)
    {
        if (!FitsOne(limit))
        {
            TagSample bare = new(default, TagStatus.BadResponseTooLarge, _one.GetSourceTime(0), _one.GetServerTime(0));
            _one = _one.Cleared(MaxKeptBytes);
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
}
