using System.Diagnostics;
using System.Text;
using FastPort.Routing;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <summary>The trie against a list of all prefixes, looked through one by one.</summary>
public sealed class PrefixTrieTests(ITestOutputHelper output)
{
    // Few letters, so that prefixes share beginnings, fork and lie within each other.
    private static readonly Gen<string> Texts = Gen.Elements("a", "b", "/", "ü", "日").ArrayOf().Select(static parts => string.Concat(parts.Take(8)));

    private static readonly Gen<(bool Set, string Prefix)[]> Changes =
        Gen.Elements(true, true, false).SelectMany(static _ => Texts, static (set, text) => (set, text)).ArrayOf();

    [Fact]
    public void Finds_what_a_list_of_all_prefixes_finds() => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(2000),
        Prop.ForAll(
            Changes.ToArbitrary(),
            Texts.ArrayOf(20).ToArbitrary(),
            static (changes, topics) =>
            {
                var trie = new PrefixTrie<string>();
                var model = new HashSet<string>(StringComparer.Ordinal);
                foreach ((bool set, string prefix) in changes)
                {
                    if (set)
                    {
                        model.Add(prefix);
                        trie.Set(Utf8(prefix), prefix);
                    }
                    else
                    {
                        model.Remove(prefix);
                        trie.Remove(Utf8(prefix));
                    }
                }

                foreach (string topic in topics.Concat(model))
                {
                    Assert.Equal(model.Contains(topic) ? topic : null, trie.Find(Utf8(topic)));
                    Assert.Equal(model.Where(p => topic.StartsWith(p, StringComparison.Ordinal)).OrderBy(static p => p.Length), Match(trie, topic));
                }
            }));

    [Fact]
    public void A_reader_sees_the_prefixes_of_one_moment()
    {
        var trie = new PrefixTrie<string>();
        trie.Set("a"u8, "a");
        trie.Set("abc"u8, "abc");
        PrefixTrie<string>.Matches matches = trie.Match("abcd"u8);
        Assert.True(matches.MoveNext());

        trie.Set("ab"u8, "ab");
        trie.Remove("abc"u8);

        Assert.True(matches.MoveNext());
        Assert.Equal("abc", matches.Current);
        Assert.Equal(["a", "ab"], Match(trie, "abcd"));
    }

    [Fact]
    public void Matching_one_of_a_hundred_thousand_does_not_look_through_them()
    {
        var small = new PrefixTrie<string>();
        var large = new PrefixTrie<string>();
        byte[][] topics = [.. Enumerable.Range(0, 100_000).Select(static i => Utf8($"plant/line-{i % 100}/sensor-{i}/"))];
        for (int i = 0; i < topics.Length; i++)
        {
            large.Set(topics[i], "x");
            if (i < 100)
            {
                small.Set(topics[i], "x");
            }
        }

        double few = Measure(small, topics.AsSpan(0, 100)), many = Measure(large, topics);

        output.WriteLine($"{few:0} ns with 100 prefixes, {many:0} ns with 100,000");

        // Looking through them takes several hundred microseconds on any machine.
        Assert.InRange(many, 0, 50_000);
    }

    private static double Measure(PrefixTrie<string> trie, ReadOnlySpan<byte[]> topics)
    {
        const int Rounds = 200_000;
        double best = double.MaxValue;
        for (int attempt = 0; attempt < 5; attempt++)
        {
            int found = 0;
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < Rounds; i++)
            {
                // Far apart from each other, so that the cache does not hold them all.
                PrefixTrie<string>.Matches matches = trie.Match(topics[(int)(i * 7919L % topics.Length)]);
                found += matches.MoveNext() ? 1 : 0;
            }

            Assert.Equal(Rounds, found);
            best = Math.Min(best, Stopwatch.GetElapsedTime(start).TotalNanoseconds / Rounds);
        }

        return best;
    }

    private static byte[] Utf8(string text) => Encoding.UTF8.GetBytes(text);

    private static List<string> Match(PrefixTrie<string> trie, string topic)
    {
        List<string> found = [];
        PrefixTrie<string>.Matches matches = trie.Match(Utf8(topic));
        while (matches.MoveNext())
        {
            found.Add(matches.Current);
        }

        return found;
    }
}
