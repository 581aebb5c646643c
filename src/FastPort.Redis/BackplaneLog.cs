using Microsoft.Extensions.Logging;

namespace FastPort.Redis;

/// <summary>Log messages of the backplane; event ids 6000 to 6099.</summary>
internal static partial class BackplaneLog
{
    [LoggerMessage(6000, LogLevel.Information, "Node '{Node}' has joined {Others} other nodes at {Redis}")]
    public static partial void Joined(ILogger logger, string node, int others, string redis);

    [LoggerMessage(6001, LogLevel.Information, "Node '{Node}' has joined")]
    public static partial void NodeJoined(ILogger logger, string node);

    [LoggerMessage(6002, LogLevel.Warning, "Node '{Node}' has left, or its lease has ended")]
    public static partial void NodeLeft(ILogger logger, string node);

    [LoggerMessage(
        6003, LogLevel.Error,
        "The lease cannot be renewed at Redis: {Problem}. Sessions of this node still reach each other; relays to other nodes and Hellos "
        + "with routing ids are answered with Unavailable")]
    public static partial void RenewalFailed(ILogger logger, string problem);

    [LoggerMessage(6004, LogLevel.Information, "The lease is being renewed again")]
    public static partial void Renewed(ILogger logger);

    [LoggerMessage(
        6005, LogLevel.Warning,
        "This node's lease had ended. The node reclaimed {Kept} of its routing ids; {Lost} now belong to other nodes")]
    public static partial void ClaimedAgain(ILogger logger, int kept, int lost);

    [LoggerMessage(6006, LogLevel.Warning, "{Count} one-way relays are lost, the first one to '{Target}': {Status}")]
    public static partial void OneWaysLost(ILogger logger, int count, string target, SendStatus status);

    [LoggerMessage(6007, LogLevel.Warning, "{Count} one-way relays to node '{Node}' may be lost: the node has not confirmed their batches")]
    public static partial void OneWaysLost(ILogger logger, int count, string node);

    [LoggerMessage(6008, LogLevel.Warning, "A message on this node's channel is ignored: {Problem}")]
    public static partial void NotUnderstood(ILogger logger, string problem);

    [LoggerMessage(6009, LogLevel.Error, "Looking up a routing id failed: {Problem}")]
    public static partial void LookupFailed(ILogger logger, string problem);

    [LoggerMessage(6010, LogLevel.Warning, "{Count} publications to node '{Node}' may be lost: the node has not confirmed their batches")]
    public static partial void PublicationsLost(ILogger logger, int count, string node);

    // Without the id: it is of a peer whose Hello is refused.
    [LoggerMessage(6011, LogLevel.Warning, "A routing id cannot be claimed at Redis, so its Hello is refused: {Problem}")]
    public static partial void ClaimFailed(ILogger logger, string problem);

    [LoggerMessage(
        6012, LogLevel.Warning,
        "Node '{Node}' has joined with batch version {Version}, but this node has version {Own}: relays and publications between them fail "
        + "until both run the same release")]
    public static partial void IncompatibleNodeJoined(ILogger logger, string node, int version, int own);

    [LoggerMessage(
        6013, LogLevel.Error,
        "Some keys of this node's routing ids could not be set again. The node retries 1,024 keys a second, or all keys at each renewal "
        + "after its lease had ended")]
    public static partial void KeepFailed(ILogger logger, Exception exception);

    [LoggerMessage(6014, LogLevel.Error, "A batch to node '{Node}' could not be sent")]
    public static partial void SendingFailed(ILogger logger, string node, Exception exception);

    [LoggerMessage(
        6015, LogLevel.Warning,
        "Node '{Node}' wants more than {Max} topic prefixes: this node's publications on the excess prefixes do not reach it")]
    public static partial void TooManyInterests(ILogger logger, string node, int max);

    [LoggerMessage(
        6016, LogLevel.Warning,
        "The keys of {Count} of this node's routing ids were lost or overwritten at Redis, and are set again. Check whether Redis evicts "
        + "keys or another program writes to it")]
    public static partial void KeysLost(ILogger logger, int count);

    [LoggerMessage(
        6017, LogLevel.Warning, "{Problem} Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in the Redis configuration)")]
    public static partial void MayEvict(ILogger logger, string problem);

    [LoggerMessage(
        6018, LogLevel.Information,
        "The maxmemory-policy of Redis at {Server} cannot be read with INFO memory or CONFIG GET. Make sure that it is noeviction")]
    public static partial void EvictionUnknown(ILogger logger, string server);
}
