using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>Reply body of Peers (type 8).</summary>
internal readonly struct PeerListBody(IReadOnlyList<PeerInfo> peers) : IFrameBody
{
    public int Size => peers.Sum(EntrySize);

    /// <summary>Size of one peer in the list, in bytes.</summary>
    public static int EntrySize(PeerInfo peer) => ProtoBody.BytesFieldSize(FieldsSize(peer));

    public void Write(Span<byte> destination)
    {
        foreach (PeerInfo peer in peers)
        {
            int at = ProtoBody.WriteHead(destination, 1, FieldsSize(peer));
            at += ProtoBody.WriteField(destination[at..], 1, (ulong)peer.SessionId);
            at += ProtoBody.WriteField(destination[at..], 2, peer.RoutingId);
            at += ProtoBody.WriteField(destination[at..], 3, peer.ClientName);
            at += ProtoBody.WriteField(destination[at..], 4, (ulong)peer.ConnectedAt.ToUnixTimeMilliseconds());
            at += ProtoBody.WriteField(destination[at..], 5, (ulong)peer.MessagesIn);
            at += ProtoBody.WriteField(destination[at..], 6, (ulong)peer.MessagesOut);
            at += ProtoBody.WriteField(destination[at..], 7, (ulong)peer.BytesIn);
            at += ProtoBody.WriteField(destination[at..], 8, (ulong)peer.BytesOut);
            at += ProtoBody.WriteField(destination[at..], 9, peer.Node);
            destination = destination[at..];
        }
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out List<PeerInfo> peers)
    {
        peers = [];
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            if (reader.Field == 1)
            {
                if (!reader.IsBytes || !TryReadPeer(reader.Bytes, out PeerInfo peer))
                {
                    return false;
                }

                peers.Add(peer);
            }
        }

        return !reader.Malformed;
    }

    private static int FieldsSize(PeerInfo peer) =>
        ProtoBody.FieldSize((ulong)peer.SessionId) + ProtoBody.FieldSize(peer.RoutingId) + ProtoBody.FieldSize(peer.ClientName)
        + ProtoBody.FieldSize((ulong)peer.ConnectedAt.ToUnixTimeMilliseconds())
        + ProtoBody.FieldSize((ulong)peer.MessagesIn) + ProtoBody.FieldSize((ulong)peer.MessagesOut)
        + ProtoBody.FieldSize((ulong)peer.BytesIn) + ProtoBody.FieldSize((ulong)peer.BytesOut)
        + ProtoBody.FieldSize(peer.Node);

    private static bool TryReadPeer(ReadOnlySpan<byte> body, out PeerInfo peer)
    {
        string routingId = string.Empty, clientName = string.Empty, node = string.Empty;
        Span<ulong> numbers = stackalloc ulong[9];
        numbers.Clear();
        var reader = new ProtoBodyReader(body);
        while (reader.Read())
        {
            switch (reader.Field)
            {
                case 2:
                    routingId = reader.ReadString();
                    break;
                case 3:
                    clientName = reader.ReadString();
                    break;
                case 9:
                    node = reader.ReadString();
                    break;
                case < 9:
                    numbers[(int)reader.Field] = reader.Value;
                    break;
            }
        }

        // A time out of DateTimeOffset's range would throw.
        long connected = (long)Math.Min(numbers[4], (ulong)DateTimeOffset.MaxValue.ToUnixTimeMilliseconds());
        peer = new PeerInfo(
            (long)numbers[1],
            routingId,
            clientName,
            DateTimeOffset.FromUnixTimeMilliseconds(connected),
            (long)numbers[5],
            (long)numbers[6],
            (long)numbers[7],
            (long)numbers[8])
        {
            Node = node,
        };
        return !reader.Malformed;
    }
}
