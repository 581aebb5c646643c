using System.Runtime.InteropServices;
using FastPort.Framing;

namespace FastPort.Tags.Wire;

/// <summary>The message TagSamples as a body. The samples stay unchanged until it has been written.</summary>
internal readonly struct TagSamplesBody(TagSamples samples) : IFrameBody
{
    public int Size { get; } = samples.Size;

    public void Write(Span<byte> destination) => samples.Write(destination);
}

/// <summary>The message ReadTags.</summary>
internal readonly struct ReadTagsBody(ReadOnlyMemory<uint> handles, uint maxAge, uint timeout) : INamedBody
{
    public int Size { get; } = WireWriter.BytesSize(1, handles.Length * sizeof(uint))
        + WireWriter.NumberSize(2, maxAge)
        + WireWriter.NumberSize(3, timeout);

    public string Name => "ReadTags";

    public void Write(Span<byte> destination)
    {
        var writer = new WireWriter(destination);
        writer.Fixed(1, handles.Span);
        writer.Number(2, maxAge);
        writer.Number(3, timeout);
    }
}

/// <summary>The message WriteTags.</summary>
internal readonly struct WriteTagsBody(ReadOnlyMemory<uint> handles, TagSamples samples, uint timeout) : INamedBody
{
    private readonly int _samplesSize = samples.Size;

    public int Size => WireWriter.BytesSize(1, handles.Length * sizeof(uint))
        + WireWriter.BytesSize(2, _samplesSize)
        + WireWriter.NumberSize(3, timeout);

    public string Name => "WriteTags";

    public void Write(Span<byte> destination)
    {
        var writer = new WireWriter(destination);
        writer.Fixed(1, handles.Span);
        if (_samplesSize != 0)
        {
            samples.Write(writer.Begin(2, _samplesSize));
            writer.Advance(_samplesSize);
        }

        writer.Number(3, timeout);
    }
}

/// <summary>The message TagUpdate.</summary>
internal readonly struct TagUpdateBody(uint subscription, ulong number, ReadOnlyMemory<uint> handles, TagSamples samples, ulong dropped)
    : IFrameBody
{
    private readonly int _samplesSize = samples.Size;

    public int Size => WireWriter.NumberSize(1, subscription)
        + WireWriter.NumberSize(2, number)
        + WireWriter.BytesSize(3, handles.Length * sizeof(uint))
        + WireWriter.BytesSize(4, _samplesSize)
        + WireWriter.NumberSize(5, dropped);

    public void Write(Span<byte> destination)
    {
        var writer = new WireWriter(destination);
        writer.Number(1, subscription);
        writer.Number(2, number);
        writer.Fixed(3, handles.Span);
        if (_samplesSize != 0)
        {
            samples.Write(writer.Begin(4, _samplesSize));
            writer.Advance(_samplesSize);
        }

        writer.Number(5, dropped);
    }
}

/// <summary>The message WrittenTags.</summary>
internal readonly struct WrittenTagsBody : IFrameBody
{
    private readonly ReadOnlyMemory<TagStatus> _statuses;

    public WrittenTagsBody(ReadOnlyMemory<TagStatus> statuses)
    {
        // None for all good, one for all the same.
        ReadOnlySpan<TagStatus> all = statuses.Span;
        bool areSame = !all.IsEmpty && all.IndexOfAnyExcept(all[0]) < 0;
        _statuses = !areSame ? statuses : all[0] == TagStatus.Good ? default : statuses[..1];
    }

    public int Size => WireWriter.BytesSize(1, _statuses.Length * sizeof(uint));

    public void Write(Span<byte> destination) =>
        new WireWriter(destination).Fixed(1, MemoryMarshal.Cast<TagStatus, uint>(_statuses.Span));
}
