using System.Globalization;
using FastPort.OpcUa;
using FastPort.Tags;

namespace OpcUaPeer;

/// <summary>
/// The tags of the simulation's address space (src/FastPort.OpcBridge), with values from which anybody can tell the tag's index and how
/// often it has changed.
/// </summary>
internal static class TagValues
{
    public const string NamespaceUri = "urn:fastport:simulation";
    public const int Int32Count = 1000;
    public const int DoubleCount = 800;
    public const int StringCount = 200;
    public const int Count = Int32Count + DoubleCount + StringCount;

    /// <summary>The object that has the tags and the methods.</summary>
    public const uint Simulation = 90_000;

    /// <summary>The method SetPackageSize.</summary>
    public const uint SetPackageSize = 90_001;

    /// <summary>The method GetPackage.</summary>
    public const uint GetPackage = 90_002;

    /// <summary>Bytes that the server's process has allocated, Int64; only here.</summary>
    public const uint AllocatedBytes = 90_010;

    /// <summary>Variables that count how often they are read, Int64; only here.</summary>
    public const int ReadCounters = 100;

    /// <summary>The first of <see cref="ReadCounters"/>.</summary>
    public const uint FirstReadCounter = 90_100;

    // Texts have six digits: three for the index, three for the generation.
    private const int Step = 1000;
    private const int TextLength = 16;
    private const int TextDigits = 10;
    private const uint First = 1000;

    /// <summary>The number of a tag's node id.</summary>
    public static uint Id(int tag) => First + (uint)tag;

    /// <summary>The browse name of a tag.</summary>
    public static string Name(int tag) => tag switch
    {
        < Int32Count => $"Int32.{tag}",
        < Int32Count + DoubleCount => $"Double.{tag - Int32Count}",
        _ => $"String.{tag - Int32Count - DoubleCount}",
    };

    /// <summary>The browse name of a variable that counts how often it is read.</summary>
    public static string ReadCounterName(int counter) => $"Reads.{counter}";

    /// <summary>The name of a variable in a bridge, whose endpoint is called <c>simulation</c>.</summary>
    public static string Bridged(string name) => $"simulation/{name}";

    public static Variant At(int tag, int generation) => tag switch
    {
        < Int32Count => (generation * Step) + tag,
        < Int32Count + DoubleCount => (generation * (double)Step) + tag - Int32Count,
        _ => string.Create(
            CultureInfo.InvariantCulture, $"tag-value-{(generation % Step * Step) + tag - Int32Count - DoubleCount:D6}"),
    };

    /// <summary>Whether the tag is a text.</summary>
    public static bool IsText(int tag) => tag >= Int32Count + DoubleCount;

    /// <summary>The generation of a value; -1 if it is not a value of this tag. That of a text is known modulo 1,000.</summary>
    public static int GenerationOf(int tag, in Variant value) => GenerationOf(tag, tag switch
    {
        < Int32Count => value.TryGet(out int int32) ? int32 : -1,
        < Int32Count + DoubleCount => value.TryGet(out double real) ? (long)real : -1,
        _ => value.TryGet(out string text) && text.Length == TextLength
            && int.TryParse(text.AsSpan(TextDigits), NumberStyles.None, CultureInfo.InvariantCulture, out int digits) ? digits : -1,
    });

    /// <inheritdoc cref="GenerationOf(int, in Variant)"/>
    public static int GenerationOf(int tag, TagSamples samples, int row) => GenerationOf(tag, tag switch
    {
        < Int32Count => samples.TryGet(row, out int int32) ? int32 : -1,
        < Int32Count + DoubleCount => samples.TryGet(row, out double real) ? (long)real : -1,
        _ => samples.GetTagType(row) == TagType.String && !samples.IsArray(row)
            && samples.GetBytes(row) is { Length: TextLength } text
            && int.TryParse(text[TextDigits..], NumberStyles.None, CultureInfo.InvariantCulture, out int digits) ? digits : -1,
    });

    private static int GenerationOf(int tag, long number)
    {
        int index = tag < Int32Count ? tag : IsText(tag) ? tag - Int32Count - DoubleCount : tag - Int32Count;
        return number >= 0 && number % Step == index ? (int)(number / Step) : -1;
    }
}
