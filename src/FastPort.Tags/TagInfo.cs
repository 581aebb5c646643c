namespace FastPort.Tags;

/// <summary>The description of a tag. Immutable.</summary>
/// <param name="Tag">The source's number for it, from 0. A client has a handle instead.</param>
/// <param name="Name">Its name.</param>
public sealed record TagInfo(int Tag, string Name)
{
    /// <summary>Type of the value, or of its elements. Defaults to Null: unknown, or varying.</summary>
    public TagType Type { get; init; }

    /// <summary>
    /// The OPC UA ValueRank: -1 for a scalar, 1 or more for an array of exactly that many dimensions, 0 for one of any number of them, -3
    /// for a scalar or an array of one dimension, -2 for any value (OPC 10000-3, 5.6.2). Defaults to -2.
    /// </summary>
    public int Rank { get; init; } = -2;

    /// <summary>
    /// The number of the tag of which this tag is a part, for example some elements of an array: a write to one of them may change the
    /// others. Defaults to null: none.
    /// </summary>
    public int? PartOf { get; init; }

    /// <summary>Whether the tag can be read. Defaults to true.</summary>
    public bool IsReadable { get; init; } = true;

    /// <summary>Whether the tag can be written. Defaults to false.</summary>
    public bool IsWritable { get; init; }

    /// <summary>The unit, such as "°C". Defaults to empty: none.</summary>
    public string Unit { get; init; } = string.Empty;

    /// <summary>The lowest and the highest value in normal operation (EURange, OPC 10000-8). Defaults to null: not known.</summary>
    public (double Low, double High)? Range { get; init; }

    /// <summary>
    /// How often the source reports the tag's changes, regardless of subscribers, even if there are none, so that the server's cache has
    /// its value. Defaults to null: as often as subscribers request, and only while there are any.
    /// </summary>
    public TimeSpan? Interval { get; init; }

    /// <summary>
    /// The device that answers the tag's writes, if a source has several: the server writes to each of them separately, so that a device
    /// that does not answer delays only the writes of its own tags. Defaults to empty.
    /// </summary>
    public string Device { get; init; } = string.Empty;

    /// <summary>
    /// Whether the source reports every change. False if it leaves some out, for example by a deadband. Defaults to true.
    /// </summary>
    public bool ReportsAllChanges { get; init; } = true;

    /// <summary>A description for people. Defaults to empty: none.</summary>
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
