using FastPort.Dashboard.Live;

namespace FastPort.Dashboard.Sessions;

/// <summary>A session at the moment of the snapshot. Texts come from its peer.</summary>
internal sealed record SessionRow
{
    private const int MaxCharacters = 128;

    public required long Id { get; init; }

    public required string RoutingId { get; init; }

    public required string Name { get; init; }

    public required string Address { get; init; }

    /// <summary>Unix time in milliseconds.</summary>
    public required long Opened { get; init; }

    public required long MessagesIn { get; init; }

    public required long MessagesOut { get; init; }

    /// <summary>Messages in both directions per second since the previous snapshot.</summary>
    public required double Rate { get; init; }

    public required long BytesIn { get; init; }

    public required long BytesOut { get; init; }

    /// <summary>Bytes that wait to be sent.</summary>
    public required long PendingBytes { get; init; }

    public required long Dropped { get; init; }

    /// <summary>Whether its peer reads more slowly than the server writes.</summary>
    public required bool IsSlow { get; init; }

    public static SessionRow Of(Session session, SessionRow? before, double seconds)
    {
        long received = session.MessagesReceived;
        long sent = session.MessagesSent;
        return new SessionRow
        {
            Id = session.Id,
            RoutingId = ShownText.Of(session.RoutingId, MaxCharacters),
            Name = ShownText.Of(session.ClientName, MaxCharacters),
            Address = session.RemoteEndPoint?.ToString() ?? string.Empty,
            Opened = session.OpenedAt.ToUnixTimeMilliseconds(),
            MessagesIn = received,
            MessagesOut = sent,
            Rate = before is null || seconds <= 0 ? 0 : Math.Round((received - before.MessagesIn + sent - before.MessagesOut) / seconds, 1),
            BytesIn = session.Connection.BytesReceived,
            BytesOut = session.Connection.BytesSent,
            PendingBytes = session.Connection.PendingBytes,
            Dropped = session.MessagesDropped,
            IsSlow = session.Connection.IsSendBlocked,
        };
    }
}
