using System.Diagnostics;
using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Routing;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <summary>The trie against a list of all prefixes, looked through one by one.</summary>
public sealed class PrefixTrieTests(ITestOutputHelper output)
{
    // Few letters, so that prefixes share beginnings, fork and lie within each other.
    private static readonly Gen<string> Texts = Gen.Elements("a", "b", "/", "ü", "日").ArrayOf()
        .Select(static parts => string.Concat(parts.Take(8)));

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

                    // What it remembers of the depths must not outlive the next changes.
                    trie.DepthBelow([], out _);
                    trie.DepthBelow(Utf8(prefix), out _);
                }

                foreach (string topic in topics.Concat(model))
                {
                    Assert.Equal(model.Contains(topic) ? topic : null, trie.Find(Utf8(topic)));
                    Assert.Equal(
                        model.Where(p => topic.StartsWith(p, StringComparison.Ordinal)).OrderBy(static p => p.Length), Match(trie, topic));
                    Assert.Equal(
                        model.Where(p => p.Length > topic.Length && p.StartsWith(topic, StringComparison.Ordinal))
                            .Select(p => model.Count(q => q.Length > topic.Length && p.StartsWith(q, StringComparison.Ordinal)))
                            .DefaultIfEmpty(0).Max(),
                        trie.DepthBelow(Utf8(topic), out _));
                }

                while (trie.First() is { } some)
                {
                    Assert.True(model.Remove(some));
                    trie.Remove(Utf8(some));
                }

                Assert.Empty(model);
            }));

    [Fact]
    public void A_reader_under_way_sees_or_misses_just_what_changes()
    {
        var trie = new PrefixTrie<string>();
        foreach (string prefix in new[] { "a", "abc", "abcde", "abcdefg" })
        {
            trie.Set(Utf8(prefix), prefix);
        }

        PrefixTrie<string>.Matches matches = trie.Match("abcdefgh"u8);
        Assert.True(matches.MoveNext());
        Assert.True(matches.MoveNext());
        Assert.Equal("abc", matches.Current);

        // Forks before and after the place where it stands, that place itself, and one that has gone.
        trie.Set("ab"u8, "ab");
        trie.Remove("abc"u8);
        trie.Set("abcdx"u8, "abcdx");
        trie.Remove("abcde"u8);

        List<string> rest = [];
        while (matches.MoveNext())
        {
            rest.Add(matches.Current);
        }

        Assert.Equal(["abcdefg"], rest.Where(static p => p != "abcde"));
        Assert.Equal(["a", "ab", "abcdefg"], Match(trie, "abcdefgh"));
    }

    [Fact]
    public async Task Readers_find_what_stays_while_others_change_around_it()
    {
        string[] staying = ["", "a", "aab", "aabba", "aabbab"];
        var trie = new PrefixTrie<string>();
        foreach (string prefix in staying)
        {
            trie.Set(Utf8(prefix), prefix);
        }

        using var stop = new CancellationTokenSource();
        Task reading = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                Assert.Equal(staying, Match(trie, "aabbabab").Where(staying.Contains));
            }
        });
        var random = new Random(1);
        for (int i = 0; i < 200_000; i++)
        {
            string prefix = new([.. Enumerable.Range(0, random.Next(9)).Select(_ => random.Next(3) == 0 ? 'b' : 'a')]);
            if (staying.Contains(prefix))
            {
                continue;
            }

            if (random.Next(2) == 0)
            {
                trie.Set(Utf8(prefix), prefix);
            }
            else
            {
                trie.Remove(Utf8(prefix));
            }
        }

        await stop.CancelAsync();
        await reading;
    }

    [Fact]
    public void A_change_costs_the_length_of_its_prefix_however_crowded_the_way_is()
    {
        // At each of 256 bytes 64 others branch off.
        const int Length = 256;
        var trie = new PrefixTrie<string>();
        for (int length = 0; length < Length; length++)
        {
            for (byte other = 0; other < 64; other++)
            {
                trie.Set([.. Enumerable.Repeat((byte)'a', length), other], "x");
            }
        }

        byte[] prefix = [.. Enumerable.Repeat((byte)'a', Length)];
        long allocated = Allocations.LeastOf(() =>
        {
            trie.Set(prefix, "y");
            trie.Remove(prefix);
        });

        output.WriteLine($"{allocated} bytes");
        Assert.InRange(allocated, 0, 8 * Length);
    }

    [Fact]
    public void The_depth_below_a_prefix_costs_no_walk_through_all_that_is_there()
    {
        const int Topics = 10_000;
        var trie = new PrefixTrie<string>();
        for (int i = 0; i < Topics; i++)
        {
            trie.Set(Utf8($"{i:00000}"), "x");
        }

        Assert.Equal(1, trie.DepthBelow([], out int first));
        Assert.InRange(first, Topics, 2 * Topics);
        for (int i = 0; i < 10; i++)
        {
            trie.Set([], "y");
            Assert.Equal((1, 0), (trie.DepthBelow([], out int visited), visited));
            trie.Remove([]);
            Assert.Equal((1, 0), (trie.DepthBelow([], out visited), visited));
        }

        // Ten children at each byte of the prefix that has changed.
        trie.Set("012345"u8, "z");
        Assert.Equal(2, trie.DepthBelow([], out int deeper));
        trie.Remove("012345"u8);
        Assert.Equal(1, trie.DepthBelow([], out int again));
        Assert.InRange(deeper, 1, 6 * 10);
        Assert.InRange(again, 1, 6 * 10);
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
