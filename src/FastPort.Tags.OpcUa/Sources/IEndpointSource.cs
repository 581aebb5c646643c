using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>The tags of an endpoint, whichever stack connects to it. Connects in the background, and again after each loss.</summary>
internal interface IEndpointSource : ITagSource
{
    /// <summary>Completes when the tags have been known for the first time, or the endpoint cannot be used.</summary>
    Task Loaded { get; }

    /// <summary>Whether a connection has been made.</summary>
    bool HasAnswered { get; }

    /// <summary>The names of the known tags and methods.</summary>
    IEnumerable<string> Names { get; }

    /// <summary>The node of a known name, for logs.</summary>
    string NodeOf(string name);

    /// <summary>Begins to connect.</summary>
    void Start();
}

/// <summary>Makes the sources of endpoints with <see cref="OpcUaStack.OpcFoundation"/>. A service of hosts that have this stack.</summary>
/// <param name="options">The endpoint.</param>
/// <param name="settings">All settings.</param>
/// <param name="loggerFactory">Creates the loggers.</param>
internal delegate IEndpointSource OpcFoundationSources(
    OpcUaEndpointOptions options, OpcUaTagsOptions settings, ILoggerFactory loggerFactory);
