using FastPort.Dispatch;

namespace FastPort.Protocol.Tags.Serving;

/// <summary>Registers the messages of tags.</summary>
public static class TagHandlers
{
    /// <summary>Registers the handlers of a <see cref="TagServer"/>: types 0x0200 to 0x0208.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="server">The server of tags.</param>
    public static MessageHandlers MapTags(this MessageHandlers handlers, TagServer server)
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(server);
        server.Map(handlers);
        return handlers;
    }
}
