using FastPort.Hosting;

namespace FastPort.Connections;

/// <content>The connections' use of the memory budget, and closing a connection that holds too much.</content>
public sealed partial class ConnectionServer : IMemoryHolder
{
    /// <summary>The budget shared by all servers of the process, or this server's own.</summary>
    internal MemoryBudget Memory { get; }

    IEnumerable<MemoryClaim> IMemoryHolder.Claims =>
        _accepted.Values.Select(ClaimOrEnd).Where(static claim => claim.Bytes > 0);

    // A protocol that throws must not prevent the budget from closing others.
    private MemoryClaim ClaimOrEnd(AcceptedConnection accepted)
    {
        try
        {
            return Claim(accepted);
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            accepted.Top.Abort(new CloseReason(CloseKind.Internal, "The protocol threw when asked about its peer.", Exception: e));
            return default;
        }
    }

    private MemoryClaim Claim(AcceptedConnection accepted)
    {
        Connection connection = accepted.Top;
        var user = accepted.Served?.Protocol as IMemoryUser;
        bool isKnown = user?.IsPeerKnown == true;
        TimeSpan? unfinished = user?.UnfinishedFor;

        // A known peer's requests that wait in its ring are served when the queue has room. A closing connection is not read.
        long received = (isKnown && unfinished is null) || connection.IsClosing ? 0 : connection.ReceiveMemory;

        // A frame shared by several connections is held until the last of them has sent it.
        long unsent = connection.IsSendBlocked
            ? Math.Max(connection.SendMemory, MemoryBudget.Counted(connection.PendingBytes))
            : 0;
        long bytes = connection.Closed.IsCompleted ? 0 : received + unsent;
        return bytes == 0
            ? default
            : new MemoryClaim(
                bytes,
                isKnown,
                Math.Max(received == 0 ? 0 : (long)(unfinished?.TotalMilliseconds ?? 0), Owed(unsent, connection.SendWaitsSince)),
                () => CloseForMemory(connection, unsent == 0 && isKnown ? user : null, bytes),
                connection.Closed);
    }

    private long Owed(long bytes, long since) => bytes != 0 && since >= 0 ? _clock!.PreciseMilliseconds - since : 0;

    // A peer that does not read would not receive the Goodbye, and the bytes waiting for it are the ones to release.
    private void CloseForMemory(Connection connection, IMemoryUser? listening, long bytes)
    {
        string option = $"{_options.Section}:{nameof(ServerOptions.MaxBufferedMegabytes)}";
        var reason = new CloseReason(
            CloseKind.MemoryLimit,
            $"Its received messages waiting for a peer and its unread sent messages held {bytes} bytes, and {option} was used up.");
        if (listening is null)
        {
            connection.Abort(reason);
            return;
        }

        try
        {
            listening.TellAndClose(reason);
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            // As ClaimOrEnd: the budget has others to close.
            connection.Abort(new CloseReason(CloseKind.Internal, "The protocol threw when told to close its peer.", Exception: e));
        }
    }
}
