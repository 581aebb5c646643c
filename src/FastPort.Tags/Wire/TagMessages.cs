namespace FastPort.Tags.Wire;

/// <summary>A request of several tags, read from its bytes; reused for the next one.</summary>
internal sealed class TagRequestMessage
{
    private Column<uint> _handles;

    public ReadOnlySpan<uint> Handles => _handles.Items;

    /// <summary>Rows of a Write.</summary>
    public TagSamples Samples { get; } = new();

    public uint MaxAge { get; private set; }

    public uint Timeout { get; private set; }

    /// <summary>Reads the message ReadTags; false if it is malformed.</summary>
    public bool TryReadRead(ReadOnlySpan<byte> message) => TryRead(message, isWrite: false);

    /// <summary>Reads the message WriteTags; false if it is malformed or has another number of rows than handles.</summary>
    public bool TryReadWrite(ReadOnlySpan<byte> message) => TryRead(message, isWrite: true);

    private bool TryRead(ReadOnlySpan<byte> message, bool isWrite)
    {
        _handles.Clear();
        Samples.Clear();
        MaxAge = 0;
        Timeout = 0;
        ReadOnlySpan<byte> samples = default;
        var reader = new WireReader(message);
        while (reader.Next())
        {
            switch (reader.Field, isWrite)
            {
                case (1, _):
                    _handles.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
                    break;
                case (2, false):
                    MaxAge = Number(ref reader);
                    break;
                case (2, true):
                    samples = reader.Bytes();
                    break;
                case (3, _):
                    Timeout = Number(ref reader);
                    break;
                default:
                    reader.Skip();
                    break;
            }
        }

        return !reader.IsMalformed
            && (!isWrite || (Samples.TryRead(samples, _handles.Count) && Samples.Count == _handles.Count));
    }

    private static uint Number(ref WireReader reader) => (uint)Math.Min(reader.Varint(), uint.MaxValue);
}

/// <summary>The messages TagUpdate and WrittenTags, read from their bytes.</summary>
internal static class TagMessages
{
    /// <summary>Reads an update; null if it is malformed.</summary>
    public static (uint Subscription, ulong Number, uint[] Handles, TagSamples Samples, ulong Dropped)? ReadUpdate(
        ReadOnlySpan<byte> message)
    {
        uint subscription = 0;
        ulong number = 0;
        ulong dropped = 0;
        var handles = default(Column<uint>);
        ReadOnlySpan<byte> rows = default;
        var reader = new WireReader(message);
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1:
                    subscription = (uint)reader.Varint();
                    break;
                case 2:
                    number = reader.Varint();
                    break;
                case 3:
                    handles.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
                    break;
                case 4:
                    rows = reader.Bytes();
                    break;
                case 5:
                    dropped = reader.Varint();
                    break;
                default:
                    reader.Skip();
                    break;
            }
        }

        var samples = new TagSamples();
        return !reader.IsMalformed && samples.TryRead(rows, handles.Count) && samples.Count == handles.Count
            ? (subscription, number, handles.Items.ToArray(), samples, dropped)
            : null;
    }

    /// <summary>Reads statuses, encoded as none for all good, one for all, or one each; false if they are malformed.</summary>
    public static bool TryReadStatuses(ReadOnlySpan<byte> message, int field, Span<TagStatus> statuses)
    {
        var read = default(Column<uint>);
        var reader = new WireReader(message);
        while (reader.Next())
        {
            if (reader.Field == field)
            {
                read.TryAppendLittleEndian(reader.Fixed(sizeof(uint)));
            }
            else
            {
                reader.Skip();
            }
        }

        return !reader.IsMalformed && TrySpread(read.Items, statuses);
    }

    /// <summary>Expands statuses that are encoded as none for all good, one for all, or one each.</summary>
    public static bool TrySpread(ReadOnlySpan<uint> codes, Span<TagStatus> statuses)
    {
        if (codes.Length > 1 && codes.Length != statuses.Length)
        {
            return false;
        }

        for (int i = 0; i < statuses.Length; i++)
        {
            statuses[i] = codes.IsEmpty ? TagStatus.Good : new TagStatus(codes[Math.Min(i, codes.Length - 1)]);
        }

        return true;
    }
}
