namespace FastPort.Tags;

/// <summary>What is known about a tag. Immutable.</summary>
/// <param name="Tag">The source's number for it, from 0. A client has a handle instead.</param>
/// <param name="Name">Its name.</param>
public sealed record TagInfo(int Tag, string Name)
{
    /// <summary>Type of the value, or of its elements. Defaults to Null: not known, or different ones.</summary>
    public TagType Type { get; init; }

    /// <summary>
    /// The OPC UA ValueRank: -1 for a scalar, 1 or more for an array of exactly that many dimensions, 0 for one of any number of them, -3
    /// for a scalar or an array of one dimension, -2 for any value (OPC 10000-3, 5.6.2). Defaults to -2.
    /// </summary>
    public int Rank { get; init; } = -2;

    /// <summary>
    /// The number of the tag of which this one is a part, such as some elements of an array: what is written to one of them may change the
    /// others. Defaults to null: none.
    /// </summary>
    public int? PartOf { get; init; }

    /// <summary>Whether the tag can be read. Defaults to true.</summary>
    public bool IsReadable { get; init; } = true;

    /// <summary>Whether the tag can be written. Defaults to false.</summary>
    public bool IsWritable { get; init; }

    /// <summary>The unit, such as "°C". Defaults to none: empty.</summary>
    public string Unit { get; init; } = string.Empty;

    /// <summary>The lowest and the highest value in normal operation (EURange, OPC 10000-8). Defaults to null: not known.</summary>
    public (double Low, double High)? Range { get; init; }

    /// <summary>
    /// How often the source is asked to report the tag's changes, whoever subscribes to it, and also if nobody does: so the server's cache
    /// has its value. Defaults to null: as often as subscribers ask for, and only while there are some.
    /// </summary>
    public TimeSpan? Interval { get; init; }

    /// <summary>
    /// What answers the tag's writes, where a source has several: the server asks each of them by itself, so that one that does not answer
    /// holds up writes of its own tags only. Defaults to empty.
    /// </summary>
    public string Device { get; init; } = string.Empty;

    /// <summary>Whether the source reports every change. False if it leaves some out, as by a deadband. Defaults to true.</summary>
    public bool ReportsAllChanges { get; init; } = true;

    /// <summary>A text for people. Defaults to none: empty.</summary>
    public string Description { get; init; } = string.Empty;

    /// <summary>
    /// Whether a value is one for the tag: by its type byte, and the number of its dimensions, 0 for a scalar and -1 for an array without
    /// elements, which OPC UA encodes with or without dimensions.
    /// </summary>
    internal bool Accepts(byte encoding, int dimensions) =>
        (Type == TagType.Null || (byte)Type == (encoding & TagTypes.TypeBits)) && Rank switch
        {
            -3 => dimensions <= 1,
            -2 => true,
            -1 => dimensions == 0,
            0 => dimensions != 0,
            _ => dimensions == Rank || dimensions < 0,
        };
}
