using System.Text;
using FastPort.OpcUa.Encoding;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.OpcUa.Tests.Encoding;

/// <summary>Index ranges against a model that looks at each element by its indexes.</summary>
public sealed class NumericRangeTests
{
    private static readonly Config Runs = Config.QuickThrowOnFailure.WithMaxTest(5000).WithQuietOnSuccess(true)
        .WithReplay(new Replay(new Rnd(4840, 1), null));

    private static readonly Arbitrary<int> Seeds = Arb.From(Gen.Choose(0, int.MaxValue));

    [Theory]
    [InlineData("5:2")]
    [InlineData("2:2")]
    [InlineData("-1")]
    [InlineData("+1")]
    [InlineData(" 1")]
    [InlineData("1 ")]
    [InlineData("1:")]
    [InlineData(":1")]
    [InlineData(":")]
    [InlineData(",")]
    [InlineData("")]
    [InlineData("1,")]
    [InlineData("1:2:3")]
    [InlineData("0x1")]
    [InlineData("1e3")]
    [InlineData("٣")]
    [InlineData("99999999999")]
    [InlineData("0:99999999999")]
    public void A_text_that_is_no_range_is_refused(string text) => Assert.False(NumericRange.TryParse(text, out _));

    [Fact]
    public void Long_texts_are_refused_or_select_nothing()
    {
        Variant value = Variant.FromArray<int>([1, 2, 3]);
        Assert.False(NumericRange.TryParse(new string('9', 4000), out _));
        Assert.False(NumericRange.TryParse(new string(',', 4000), out _));
        Assert.Equal(StatusCodes.BadIndexRangeNoData, Parse(string.Concat(Enumerable.Repeat("0,", 4000)) + "0").Select(value, out _));
        Assert.Equal(StatusCodes.Good, Parse(new string('0', 4000) + "1").Select(value, out Variant part));
        Assert.Equal([2], part.GetArray<int>()!);
        Assert.Equal(StatusCodes.BadIndexRangeNoData, Parse("4294967294:4294967295").Select(value, out _));
        Assert.Equal(StatusCodes.Good, Parse("0:4294967295").Select(value, out _));
    }

    [Fact]
    public void Any_text_is_parsed_without_an_exception() => Check.One(Runs, Prop.ForAll(Seeds, static seed =>
    {
        var random = new Random(seed);
        string text = string.Concat(Enumerable.Range(0, random.Next(12)).Select(_ => "0123456789:::,,,- a"[random.Next(19)]));
        if (NumericRange.TryParse(text, out NumericRange range))
        {
            Variant value = new RandomValues(random).Variant();
            range.Select(value, out _);
            range.Replace(value, value, out _);
        }
    }));

    [Fact]
    public void Arrays_and_matrices_are_as_the_model_says() => Check.One(Runs, Prop.ForAll(Seeds, static seed =>
    {
        var random = new Random(seed);
        int[] lengths = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => random.Next(1, 5))];
        int[] elements = [.. Enumerable.Range(100, lengths.Aggregate(1, static (a, b) => a * b))];
        (int First, int Last)[] bounds = [.. lengths.Select(_ => RandomBounds(random))];
        NumericRange range = Parse(Text(bounds));
        int[] chosen = [.. Enumerable.Range(0, elements.Length).Where(i => Indexes(i, lengths).Zip(bounds).All(
            static p => p.First >= p.Second.First && p.First <= p.Second.Last))];
        Variant whole = Of(elements, lengths);

        StatusCode status = range.Select(whole, out Variant part);

        Assert.Equal(chosen.Length == 0 ? StatusCodes.BadIndexRangeNoData : StatusCodes.Good, status);
        if (status.IsGood)
        {
            Assert.Equal(chosen.Select(i => elements[i]), part.GetArray<int>()!);
            Assert.Equal(lengths.Length > 1 ? lengths.Length : 0, part.Dimensions.Length);
        }

        int[] wanted = [.. bounds.Select(static b => b.Last - b.First + 1)];
        int[] fresh = [.. Enumerable.Range(900, wanted.Aggregate(1, static (a, b) => a * b))];
        status = range.Replace(whole, Of(fresh, wanted), out Variant replaced);

        bool isBehind = bounds.Zip(lengths).Any(static p => p.First.Last >= p.Second);
        Assert.Equal(isBehind ? StatusCodes.BadIndexRangeNoData : StatusCodes.Good, status);
        if (status.IsGood)
        {
            int[] expected = [.. elements];
            foreach ((int index, int i) in chosen.Index())
            {
                expected[i] = fresh[index];
            }

            Assert.Equal(Of(expected, lengths), replaced);
            Assert.Equal(Of([.. Enumerable.Range(100, elements.Length)], lengths), whole);
            wanted[random.Next(wanted.Length)]++;
            Assert.Equal(
                StatusCodes.BadIndexRangeDataMismatch,
                range.Replace(whole, Of(new int[wanted.Aggregate(1, static (a, b) => a * b)], wanted), out _));
        }
    }));

    [Fact]
    public void Texts_and_byte_strings_are_as_the_model_says() => Check.One(Runs, Prop.ForAll(Seeds, static seed =>
    {
        var random = new Random(seed);
        Rune[] characters = [.. Enumerable.Range(0, random.Next(6)).Select(_ => RandomRune(random))];
        byte[] bytes = [.. characters.Select(static c => (byte)c.Value)];
        (int first, int last) = RandomBounds(random);
        NumericRange range = Parse(Text([(first, last)]));
        bool exists = first < characters.Length;
        StatusCode expected = exists ? StatusCodes.Good : StatusCodes.BadIndexRangeNoData;

        Assert.Equal(expected, range.Select(Join(characters), out Variant text));
        Assert.Equal(expected, range.Select((ByteString)bytes, out Variant part));
        if (exists)
        {
            Assert.Equal(Join(characters.Skip(first).Take(last - first + 1)), text.Get<string>());
            Assert.Equal(bytes.Skip(first).Take(last - first + 1), part.Get<ByteString>().ToArray()!);
        }

        Rune[] fresh = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => RandomRune(random))];
        byte[] freshBytes = [.. fresh.Select(static c => (byte)c.Value)];
        expected = last >= characters.Length ? StatusCodes.BadIndexRangeNoData
            : fresh.Length != last - first + 1 ? StatusCodes.BadIndexRangeDataMismatch
            : StatusCodes.Good;
        Assert.Equal(expected, range.Replace(Join(characters), Join(fresh), out text));
        Assert.Equal(expected, range.Replace((ByteString)bytes, (ByteString)freshBytes, out part));
        if (expected.IsGood)
        {
            Assert.Equal(Join([.. characters[..first], .. fresh, .. characters[(last + 1)..]]), text.Get<string>());
            Assert.Equal([.. bytes[..first], .. freshBytes, .. bytes[(last + 1)..]], part.Get<ByteString>().ToArray()!);
        }
    }));

    [Fact]
    public void One_more_range_selects_within_the_elements()
    {
        Variant texts = Variant.FromArray<string?>(["abcd", "x", null, "wxyz"]);

        Assert.Equal(StatusCodes.Good, Parse("0:2,1:2").Select(texts, out Variant part));
        Assert.Equal(["bc", null, null], part.GetArray<string?>()!);
        Assert.Equal(StatusCodes.BadIndexRangeNoData, Parse("1:2,1:2").Select(texts, out _));
        Assert.Equal(StatusCodes.Good, Parse("3,1:2").Replace(texts, Variant.FromArray<string?>(["XY"]), out Variant whole));
        Assert.Equal(["abcd", "x", null, "wXYz"], whole.GetArray<string?>()!);
        Assert.Equal(StatusCodes.BadIndexRangeDataMismatch, Parse("3,1:2").Replace(texts, Variant.FromArray<string?>(["X"]), out _));
        Assert.Equal(StatusCodes.BadIndexRangeNoData, Parse("2:3,0").Replace(texts, Variant.FromArray<string?>(["a", "b"]), out _));

        Variant bytes = Variant.FromMatrix<ByteString>([new byte[] { 1, 2 }, new byte[] { 3, 4 }], 1, 2);
        Assert.Equal(StatusCodes.Good, Parse("0,1,1").Select(bytes, out part));
        Assert.Equal(Variant.FromMatrix<ByteString>([new byte[] { 4 }], 1, 1), part);
        Assert.Equal(StatusCodes.Good, Parse("0,0,1").Replace(bytes, Variant.FromMatrix<ByteString>([new byte[] { 9 }], 1, 1), out whole));
        Assert.Equal(Variant.FromMatrix<ByteString>([new byte[] { 1, 9 }, new byte[] { 3, 4 }], 1, 2), whole);
    }

    [Fact]
    public void Values_without_elements_and_other_numbers_of_dimensions_have_no_data()
    {
        Variant matrix = Variant.FromMatrix([1, 2, 3, 4], 2, 2);
        foreach ((string text, Variant value) in ((string, Variant)[])[
            ("0", 5), ("0", Variant.Null), ("0", Variant.FromArray<int>(null)), ("0", Variant.FromArray<int>([])), ("0", (string?)null),
            ("0", default(ByteString)), ("0", string.Empty), ("0,0", "text"), ("0", matrix), ("0,0,0", matrix),
            ("0,0", Variant.FromArray<int>([1]))])
        {
            Assert.Equal(StatusCodes.BadIndexRangeNoData, Parse(text).Select(value, out _));
            Assert.Equal(StatusCodes.BadIndexRangeNoData, Parse(text).Replace(value, value, out _));
        }
    }

    private static NumericRange Parse(string text)
    {
        Assert.True(NumericRange.TryParse(text, out NumericRange range));
        return range;
    }

    private static Variant Of(int[] elements, int[] lengths) =>
        lengths.Length == 1 ? Variant.FromArray(elements) : Variant.FromMatrix(elements, lengths);

    private static (int First, int Last) RandomBounds(Random random)
    {
        int first = random.Next(5);
        return (first, first + random.Next(3));
    }

    private static string Text((int First, int Last)[] bounds) =>
        string.Join(',', bounds.Select(static b => b.First == b.Last ? $"{b.First}" : $"{b.First}:{b.Last}"));

    private static IEnumerable<int> Indexes(int element, int[] lengths) =>
        lengths.Select((_, d) => element / lengths[(d + 1)..].Aggregate(1, static (a, b) => a * b) % lengths[d]);

    private static Rune RandomRune(Random random) => ((Rune[])[new('a'), new('z'), new('水'), new(0x1F600)])[random.Next(4)];

    private static string Join(IEnumerable<Rune> characters) => string.Concat(characters.Select(static c => c.ToString()));
}
