using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa;

internal static partial class OpcUaTagsLog
{
    [LoggerMessage(8100, LogLevel.Information, "Endpoint {Endpoint} ({Url}) serves {Count} tags")]
    public static partial void Loaded(ILogger logger, string endpoint, string url, int count);

    [LoggerMessage(8101, LogLevel.Error, "Endpoint {Endpoint} ({Url}) cannot be used: {Problem}")]
    public static partial void ConnectFailed(ILogger logger, string endpoint, string url, string problem);

    [LoggerMessage(
        8112,
        LogLevel.Warning,
        "Endpoint {Endpoint} ({Url}) does not answer, or refuses the connection; the stack logs which. Retried in one second")]
    public static partial void NotConnected(ILogger logger, string endpoint, string url);

    [LoggerMessage(8102, LogLevel.Warning, "The tags of endpoint {Endpoint} cannot be listed: {Problem}. Retried in one second")]
    public static partial void LoadFailed(ILogger logger, Exception? exception, string endpoint, string problem);

    [LoggerMessage(
        8103, LogLevel.Error, "'{Name}' is the name of both {First} and {Second}: clients find the first. Give one of them another name")]
    public static partial void NameTwice(ILogger logger, string name, string first, string second);

    [LoggerMessage(
        8110,
        LogLevel.Warning,
        "Endpoint {Endpoint}: {Count} names are shared by several nodes, so the node id is appended to each name: {Names}")]
    public static partial void NamesShared(ILogger logger, string endpoint, int count, string names);

    [LoggerMessage(8104, LogLevel.Warning, "Endpoint {Endpoint} has more than {MaxTags} tags below its nodes; the others are left out")]
    public static partial void TooManyTags(ILogger logger, string endpoint, int maxTags);

    [LoggerMessage(
        8108,
        LogLevel.Warning,
        "Endpoint {Endpoint} has had {MaxNames} tags since the bridge started, including tags that are gone; new ones are left out until a "
        + "restart")]
    public static partial void TooManyNames(ILogger logger, string endpoint, long maxNames);

    [LoggerMessage(8107, LogLevel.Warning, "Endpoint {Endpoint} has more than {MaxNodes} nodes below its nodes; the others are left out")]
    public static partial void TooManyNodes(ILogger logger, string endpoint, long maxNodes);

    [LoggerMessage(8109, LogLevel.Warning, "Endpoint {Endpoint}: {Count} of its Tags have no values. {Tags}")]
    public static partial void TagsMissing(ILogger logger, string endpoint, int count, string tags);

    [LoggerMessage(8105, LogLevel.Warning, "Endpoint {Endpoint}: {Node} cannot be browsed: {Problem}")]
    public static partial void BrowseFailed(ILogger logger, string endpoint, string node, string problem);

    [LoggerMessage(
        8111,
        LogLevel.Debug,
        "Endpoint {Endpoint} does not report new nodes: {Problem}. The bridge only looks for absent nodes at growing intervals")]
    public static partial void ModelNotWatched(ILogger logger, string endpoint, string problem);

    [LoggerMessage(
        8106,
        LogLevel.Warning,
        "Endpoint {Endpoint}: clients have named {MaxTags} parts of arrays; '{Name}' and further ones are unknown. Raise MaxTags")]
    public static partial void TooManyParts(ILogger logger, string endpoint, int maxTags, string name);
}
