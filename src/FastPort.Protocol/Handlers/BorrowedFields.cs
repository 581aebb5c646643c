using System.Runtime.CompilerServices;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace FastPort.Protocol.Handlers;

/// <summary>
/// Finds the borrowed fields of a message type in a body: the singular, not required bytes fields outside oneofs. Cutting them out and
/// parsing the rest has the same result as parsing the whole body: the order of fields has no meaning, and the last occurrence of a field
/// counts. Thread-safe.
/// </summary>
internal sealed class BorrowedFields
{
    // Stored as tags: a field with another wire type is an unknown field, which the message's parser handles.
    private readonly uint[] _tags;
    private readonly IFieldAccessor[] _accessors;

    public BorrowedFields(MessageDescriptor message)
    {
        FieldDescriptor[] fields = [.. message.Fields.InDeclarationOrder()
            .Where(static f => f is { FieldType: FieldType.Bytes, IsRepeated: false, IsRequired: false, RealContainingOneof: null })];
        _tags = [.. fields.Select(static f => WireFormat.MakeTag(f.FieldNumber, WireFormat.WireType.LengthDelimited))];
        _accessors = [.. fields.Select(static f => f.Accessor)];
    }

    public bool Any => _tags.Length != 0;

    /// <summary>
    /// Whether a body consists of one borrowed field, such as the body of a message with only a payload: the fast path for most messages.
    /// </summary>
    /// <param name="body">The body.</param>
    /// <param name="field">The field.</param>
    /// <param name="contents">Index of the field's contents, which extend to the end of the body.</param>
    public bool IsOnly(ReadOnlySpan<byte> body, out int field, out int contents)
    {
        // A tag of one byte, and a length of one or two bytes.
        field = contents = 0;
        if (body.Length < 4 || body[0] >= 0x80)
        {
            return false;
        }

        uint length = body[1];
        contents = 2;
        if (length >= 0x80)
        {
            if (body[2] >= 0x80)
            {
                return false;
            }

            length = (length & 0x7F) | ((uint)body[2] << 7);
            contents = 3;
        }

        field = IndexOf(body[0]);
        return field >= 0 && length == (uint)(body.Length - contents);
    }

    /// <summary>Finds the borrowed fields of a body.</summary>
    /// <param name="body">The body.</param>
    /// <param name="cuts">Receives the positions of the fields, in the body's order.</param>
    /// <param name="count">Number of fields found.</param>
    /// <returns>False if there are too many, the body is malformed, or it has a part that only the message's parser can skip.</returns>
    public bool TryFind(ReadOnlySpan<byte> body, ref Cuts cuts, out int count)
    {
        count = 0;
        int at = 0;
        while (at < body.Length)
        {
            int start = at;
            if (!WireScan.TryReadVarint(body, ref at, out uint tag) || !WireScan.TryPass(body, tag, ref at, out int contents))
            {
                return false;
            }

            int field = IndexOf(tag);
            if (field >= 0)
            {
                if (count == Cuts.Most)
                {
                    return false;
                }

                cuts[count++] = new Cut(field, start, contents, at);
            }
        }

        return true;
    }

    /// <summary>The body without the cuts: a slice of the body if it is one piece, otherwise a new array.</summary>
    public static ReadOnlySpan<byte> Rest(ReadOnlySpan<byte> body, scoped ReadOnlySpan<Cut> cuts)
    {
        switch (cuts)
        {
            case [var only] when only.End == body.Length:
                return body[..only.Start];
            case [var only] when only.Start == 0:
                return body[only.End..];
        }

        int left = body.Length;
        foreach (Cut cut in cuts)
        {
            left -= cut.End - cut.Start;
        }

        byte[] rest = new byte[left];
        Span<byte> free = rest;
        int kept = 0;
        foreach (Cut cut in cuts)
        {
            body[kept..cut.Start].CopyTo(free);
            free = free[(cut.Start - kept)..];
            kept = cut.End;
        }

        body[kept..].CopyTo(free);
        return rest;
    }

    /// <summary>Sets the fields that were cut out of the body.</summary>
    /// <param name="message">The message, parsed from the rest.</param>
    /// <param name="body">The body.</param>
    /// <param name="cuts">The positions of the fields in the body.</param>
    public void Set(IMessage message, ReadOnlyMemory<byte> body, ReadOnlySpan<Cut> cuts)
    {
        foreach (Cut cut in cuts)
        {
            Set(message, cut.Field, body[cut.Contents..cut.End]);
        }
    }

    /// <summary>Sets one of the fields.</summary>
    public void Set(IMessage message, int field, ReadOnlyMemory<byte> contents) =>
        _accessors[field].SetValue(message, UnsafeByteOperations.UnsafeWrap(contents));

    private int IndexOf(uint tag)
    {
        uint[] tags = _tags;
        for (int i = 0; i < tags.Length; i++)
        {
            if (tags[i] == tag)
            {
                return i;
            }
        }

        return -1;
    }

    /// <summary>A field in a body: its tag begins at Start, its contents extend from Contents to End.</summary>
    internal readonly record struct Cut(int Field, int Start, int Contents, int End);

    /// <summary>Cuts on the stack, enough for most messages.</summary>
    [InlineArray(Most)]
    internal struct Cuts
    {
        public const int Most = 8;

        private Cut _first;
    }
}
