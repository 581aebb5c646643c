using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Tags;

/// <summary>Registers the tag messages.</summary>
public static class TagHandlers
{
    /// <summary>Registers the handlers of the <see cref="TagServer"/> of the services.</summary>
    /// <param name="builder">The server's registration.</param>
    public static FastPortBuilder MapTags(this FastPortBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Map(static (provider, handlers) => handlers.MapTags(provider.GetRequiredService<TagServer>()));
    }

    /// <summary>Registers the handlers of a <see cref="TagServer"/>: types 0x0200 to 0x0208.</summary>
    /// <param name="handlers">The table.</param>
    /// <param name="server">The tag server.</param>
    public static MessageHandlers MapTags(this MessageHandlers handlers, TagServer server)
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(server);
        server.Map(handlers);
        return handlers;
    }

    /// <summary>
    /// Registers the messages of sessions that publish tags, 0x0210 and 0x0211. Any session may then declare tags, so restrict this where
    /// strangers can connect.
    /// </summary>
    /// <param name="handlers">The table.</param>
    /// <param name="source">Receives the tags. Give it to a <see cref="TagServer"/> too, so that other sessions can use them.</param>
    public static MessageHandlers MapPublishedTags(this MessageHandlers handlers, PublishedTagSource source)
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(source);
        source.Map(handlers);
        return handlers;
    }
}
