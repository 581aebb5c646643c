using System.Text.Unicode;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>Body of Subscribe (type 5) and Unsubscribe (type 6).</summary>
internal readonly struct TopicBody(string prefix) : IFrameBody
{
    public int Size => ProtoBody.FieldSize(prefix);

    public void Write(Span<byte> destination) => ProtoBody.WriteField(destination, 1, prefix);

    /// <summary>Reads the prefix in UTF-8; it stays in the body's memory.</summary>
    public static bool TryRead(ReadOnlySpan<byte> body, out ReadOnlySpan<byte> prefix)
    {
        prefix = default;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            if (reader.Field != 1)
            {
                continue;
            }

            if (!reader.IsBytes)
            {
                return false;
            }

            prefix = reader.Bytes;
        }

        return !reader.Malformed && Utf8.IsValid(prefix);
    }
}

/// <summary>Reply body of Publish (type 7).</summary>
internal readonly record struct DeliveredBody(uint Sessions) : IFrameBody
{
    public int Size => ProtoBody.FieldSize(Sessions);

    public void Write(Span<byte> destination) => ProtoBody.WriteField(destination, 1, Sessions);

    public static bool TryRead(ReadOnlySpan<byte> body, out DeliveredBody delivered)
    {
        uint sessions = 0;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            if (reader.Field == 1)
            {
                sessions = (uint)reader.Value;
            }
        }

        delivered = new DeliveredBody(sessions);
        return !reader.Malformed;
    }
}

/// <summary>Body of Peers (type 8).</summary>
internal readonly record struct PeersQueryBody(string Prefix, uint Limit, string After) : IFrameBody
{
    public int Size => ProtoBody.FieldSize(Prefix) + ProtoBody.FieldSize(Limit) + ProtoBody.FieldSize(After);

    public void Write(Span<byte> destination)
    {
        int at = ProtoBody.WriteField(destination, 1, Prefix);
        at += ProtoBody.WriteField(destination[at..], 2, Limit);
        ProtoBody.WriteField(destination[at..], 3, After);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out PeersQueryBody query)
    {
        string prefix = string.Empty, after = string.Empty;
        uint limit = 0;
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            switch (reader.Field)
            {
                case 1:
                    prefix = reader.ReadString();
                    break;
                case 2:
                    limit = (uint)reader.Value;
                    break;
                case 3:
                    after = reader.ReadString();
                    break;
            }
        }

        query = new PeersQueryBody(prefix, limit, after);
        return !reader.Malformed;
    }
}
