using FastPort.Routing;

namespace FastPort.Redis.Topics;

/// <summary>A node that may want topics. <see cref="InterestTable"/> guards its mutable fields.</summary>
/// <param name="instance">The node.</param>
/// <param name="place">A small number that is unique among the nodes.</param>
internal sealed class InterestedNode(ulong instance, int place)
{
    public ulong Instance { get; } = instance;

    public int Place { get; } = place;

    /// <summary>The prefixes that it wants, with the value of <see cref="Telling"/> when it last sent them.</summary>
    public Dictionary<byte[], int> Prefixes { get; } = new(Utf8Comparer.Instance);

    /// <summary>The number of further prefixes, which are not kept because there are too many.</summary>
    public int Refused { get; set; }

    /// <summary>How often the node has begun to send all of its interests.</summary>
    public int Telling { get; set; }
}
