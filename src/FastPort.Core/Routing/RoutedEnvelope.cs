using System.Buffers;
using System.Text.Unicode;

namespace FastPort.Routing;

/// <summary>
/// A Relay or Publication in the receive ring, in one segment or two: address (1), type (2), body (3), from (4). Both have the same fields.
/// Nothing is copied; valid as long as the frame is.
/// </summary>
internal readonly ref struct RoutedEnvelope
{
    /// <summary>Error message for a Relay that <see cref="TryRead"/> refuses.</summary>
    public const string NotARelay = "The body is not a valid Relay message with a type of at most 65535.";

    /// <summary>Error message for a Publication that <see cref="TryRead"/> refuses.</summary>
    public const string NotAPublication = "The body is not a valid Publication message with a type of at most 65535.";

    private RoutedEnvelope(
        scoped in ReadOnlySequence<byte> address, ushort type, scoped in ReadOnlySequence<byte> body, scoped in ReadOnlySequence<byte> from)
    {
        Address = address;
        Type = type;
        Body = body;
        From = from;
    }

    /// <summary>Routing id or topic, not validated; <see cref="TryGetAddress"/> validates it.</summary>
    public ReadOnlySequence<byte> Address { get; }

    public ushort Type { get; }

    public ReadOnlySequence<byte> Body { get; }

    /// <summary>The sender's claim; a server ignores it.</summary>
    public ReadOnlySequence<byte> From { get; }

    /// <summary>Reads the fields; false if the bytes are no such message, or its type is above 65,535.</summary>
    public static bool TryRead(scoped in ReadOnlySequence<byte> bytes, out RoutedEnvelope envelope)
    {
        ReadOnlySequence<byte> address = default, body = default, from = default;
        ushort type = 0;
        envelope = default;
        var reader = new SequenceReader<byte>(bytes);
        while (!reader.End)
        {
            if (!TryReadVarint(ref reader, out ulong tag) || tag >> 3 is 0 or > 536_870_911)
            {
                return false;
            }

            // Field number and wire type in one: 0x0A is the first field, length-delimited.
            bool read = tag switch
            {
                0x0A => TryReadBytes(ref reader, out address),
                0x10 => TryReadType(ref reader, out type),
                0x1A => TryReadBytes(ref reader, out body),
                0x22 => TryReadBytes(ref reader, out from),
                < 5 << 3 => false,
                _ => TrySkip(ref reader, tag & 7),
            };
            if (!read)
            {
                return false;
            }
        }

        envelope = new RoutedEnvelope(address, type, body, from);
        return true;
    }

    /// <summary>Whether the address lies across the wrap of the ring.</summary>
    public bool NeedsBuffer => !Address.IsSingleSegment;

    /// <summary>The address in one piece: in the ring, or copied to the buffer.</summary>
    /// <param name="buffer">As large as the largest address; used only if <see cref="NeedsBuffer"/>.</param>
    /// <param name="address">The address.</param>
    /// <returns>False if it is not valid UTF-8.</returns>
    public bool TryGetAddress(Span<byte> buffer, out ReadOnlySpan<byte> address)
    {
        address = Address.FirstSpan;
        if (NeedsBuffer)
        {
            Address.CopyTo(buffer);
            address = buffer[..(int)Address.Length];
        }

        return Utf8.IsValid(address);
    }

    private static bool TryReadVarint(ref SequenceReader<byte> reader, out ulong value)
    {
        value = 0;
        for (int shift = 0; shift < 70 && reader.TryRead(out byte next); shift += 7)
        {
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return true;
            }
        }

        return false;
    }

    private static bool TryReadType(ref SequenceReader<byte> reader, out ushort type)
    {
        bool read = TryReadVarint(ref reader, out ulong wide);
        type = (ushort)wide;
        return read && wide <= ushort.MaxValue;
    }

    private static bool TryReadBytes(ref SequenceReader<byte> reader, out ReadOnlySequence<byte> bytes)
    {
        bytes = default;
        return TryReadVarint(ref reader, out ulong length) && length <= (ulong)reader.Remaining
            && reader.TryReadExact((int)length, out bytes);
    }

    // Skips a field of a later version.
    private static bool TrySkip(ref SequenceReader<byte> reader, ulong wireType) => wireType switch
    {
        0 => TryReadVarint(ref reader, out _),
        1 => reader.TryReadExact(8, out _),
        2 => TryReadBytes(ref reader, out _),
        5 => reader.TryReadExact(4, out _),
        _ => false,
    };
}
