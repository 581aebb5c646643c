
namespace FastPort.Tags.Tests;

/// <summary>Samples of all types, from a seed.</summary>
internal static class RandomSamples
{
    private static readonly double[] Doubles = [0, -0.0, double.NaN, double.PositiveInfinity, double.Epsilon, 1.5, double.MinValue];
    private static readonly string?[] Texts = [null, "", "a", "grün", "\u0000", new string('x', 300)];

    public static TagSample[] Make(Random random, int count)
    {
        // Often all alike, as the columns are shorter then.
        bool areAlike = random.Next(2) == 0;
        uint status = random.Next(2) == 0 ? 0 : 0x8000_0000u + (uint)random.Next(256);
        DateTime time = Time(random);
        return [.. Enumerable.Range(0, count).Select(_ => new TagSample(
            Value(random),
            new TagStatus(areAlike ? status : (uint)random.Next()),
            areAlike ? time : Time(random),
            areAlike ? time : Time(random)))];
    }

    /// <summary>Bytes that were changed, cut or lengthened.</summary>
    public static byte[] Mutate(Random random, byte[] bytes)
    {
        List<byte> mutated = [.. bytes];
        for (int changes = random.Next(1, 6); changes > 0; changes--)
        {
            int at = random.Next(mutated.Count + 1);
            switch (random.Next(4))
            {
                case 0 when at < mutated.Count:
                    mutated[at] = (byte)random.Next(256);
                    break;
                case 1 when at < mutated.Count:
                    mutated.RemoveAt(at);
                    break;
                case 2:
                    mutated.Insert(at, (byte)random.Next(256));
                    break;
                default:
                    mutated.RemoveRange(at, Math.Min(random.Next(8), mutated.Count - at));
                    break;
            }
        }

        return [.. mutated];
    }

    private static DateTime Time(Random random) => random.Next(3) switch
    {
        0 => default,
        1 => new DateTime(2026, 11, 24, 0, 0, 0, DateTimeKind.Utc).AddTicks(random.Next()),
        _ => DateTime.MaxValue.ToUniversalTime().AddDays(-random.Next(100)),
    };

    private static TagValue Value(Random random) => random.Next(26) switch
    {
        0 => default,
        1 => random.Next(2) == 0,
        2 => TagValue.From((sbyte)random.Next()),
        3 => TagValue.From((byte)random.Next()),
        4 => TagValue.From((short)random.Next()),
        5 => TagValue.From((ushort)random.Next()),
        6 => random.Next(int.MinValue, int.MaxValue),
        7 => (uint)random.Next(),
        8 => random.NextInt64(long.MinValue, long.MaxValue),
        9 => TagValue.From((ulong)random.NextInt64()),
        10 => (float)Doubles[random.Next(Doubles.Length)],
        11 => Doubles[random.Next(Doubles.Length)],
        12 => Texts[random.Next(Texts.Length)],
        13 => new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddTicks(random.Next()),
        14 => TagValue.From(random.Next(4) == 0 ? null : Bytes(random)),
        15 => TagValue.FromBytes(TagType.NodeId, Bytes(random)),
        16 => TagValue.FromBytes(TagType.XmlElement, [.. "<a/>"u8]),
        17 => TagValue.From(new TagStatus((uint)random.Next())),
        18 => TagValue.FromArray<bool>([true, false]),
        19 => TagValue.FromArray(Enumerable.Range(0, random.Next(5)).Select(_ => random.NextDouble()).ToArray()),
        20 => TagValue.FromArray<string>(null),
        21 => TagValue.FromArray(Texts.Take(random.Next(Texts.Length)).ToArray()),
        22 => TagValue.FromArray([1, 2, 3, 4, 5, 6], 2, 3),
        23 => TagValue.FromArray([(sbyte)-1, (sbyte)1]),
        24 => TagValue.FromArray([(ushort)1, (ushort)65535]),
        _ => TagValue.FromElements(TagType.LocalizedText, [Bytes(random), null, []]),
    };

    private static byte[] Bytes(Random random)
    {
        var bytes = new byte[random.Next(20)];
        random.NextBytes(bytes);
        return bytes;
    }
}
