using FastPort.Connections;

namespace FastPort.Hosting;

// What the connections hold of the memory budget, and who is closed for it.
public sealed partial class ConnectionServer : IMemoryHolder
{
    /// <summary>The budget of all servers of the process, or of this one.</summary>
    internal MemoryBudget Memory { get; }

    IEnumerable<MemoryClaim> IMemoryHolder.Claims =>
        _accepted.Values.Select(Claim).Where(static claim => claim.Bytes > 0);

    private MemoryClaim Claim(AcceptedConnection accepted)
    {
        Connection connection = accepted.Connection;
        var user = accepted.Served?.Protocol as IMemoryUser;
        bool isKnown = user?.IsPeerKnown == true;
        long unfinishedSince = user?.UnfinishedSince ?? -1;

        // A known peer's requests that wait in its ring are served when there is room for them. Where closing has begun nothing is read.
        long received = (isKnown && unfinishedSince < 0) || connection.IsClosing ? 0 : connection.ReceiveMemory;

        // Frames that several connections share are held until the last of them has sent them.
        long unsent = connection.IsSendBlocked
            ? Math.Max(connection.SendMemory, MemoryBudget.Counted(connection.PendingBytes))
            : 0;
        long bytes = connection.Closed.IsCompleted ? 0 : received + unsent;
        return bytes == 0
            ? default
            : new MemoryClaim(
                bytes,
                isKnown,
                Math.Max(Owed(received, unfinishedSince), Owed(unsent, connection.SendWaitsSince)),
                () => CloseForMemory(connection, unsent == 0 && isKnown ? user : null, bytes),
                connection.Closed);
    }

    private long Owed(long bytes, long since) => bytes != 0 && since >= 0 ? _clock!.PreciseMilliseconds - since : 0;

    // Who does not read would not hear why, and what waits for it is what is to be given back.
    private void CloseForMemory(Connection connection, IMemoryUser? listening, long bytes)
    {
        string option = $"{_options.Section}:{nameof(ServerOptions.MaxBufferedMegabytes)}";
        var reason = new CloseReason(
            CloseKind.MemoryLimit, $"{bytes} bytes were held for what it had sent in part or did not read, and {option} was used up.");
        if (listening is not null)
        {
            listening.TellAndClose(reason);
        }
        else
        {
            connection.Abort(reason);
        }
    }
}
