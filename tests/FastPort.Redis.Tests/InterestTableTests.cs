using System.Text;
using FastPort.Redis.Topics;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>What other nodes want, against lists of it that are looked through one by one.</summary>
public sealed class InterestTableTests
{
    private enum Step
    {
        Wanted,
        Unwanted,
        Begin,
        End,
        Joined,
        Left,
    }

    // Few letters, so that prefixes share beginnings and lie within each other.
    private static readonly Gen<string> Texts = Gen.Elements("a", "b", "/", "ü").ArrayOf()
        .Select(static parts => string.Concat(parts.Take(6)));

    private static readonly Gen<(Step Step, ulong Node, string Prefix)[]> Steps =
        (from step in Gen.Frequency(
            (8, Gen.Constant(Step.Wanted)),
            (3, Gen.Constant(Step.Unwanted)),
            (1, Gen.Constant(Step.Begin)),
            (1, Gen.Constant(Step.End)),
            (1, Gen.Constant(Step.Joined)),
            (1, Gen.Constant(Step.Left)))
         from node in Gen.Choose(1, 4)
         from prefix in Texts
         select (step, (ulong)node, prefix)).ArrayOf();

    [Fact]
    public void Finds_the_nodes_that_lists_of_all_prefixes_find() => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(2000),
        Prop.ForAll(
            Steps.ToArbitrary(),
            Texts.ArrayOf(10).ToArbitrary(),
            static (steps, topics) =>
            {
                var table = new InterestTable();
                var model = new Dictionary<ulong, (HashSet<string> Wanted, HashSet<string> Told)>();
                table.AddNode(1, static _ => true);
                model[1] = ([], []);
                foreach ((Step step, ulong node, string prefix) in steps)
                {
                    Take(table, model, step, node, prefix);
                }

                Assert.Equal(model.Values.Sum(static one => one.Wanted.Count), table.Count);
                foreach (string topic in topics.Concat(model.Values.SelectMany(static one => one.Wanted)))
                {
                    Assert.Equal(
                        model.Where(one => one.Value.Wanted.Any(p => topic.StartsWith(p, StringComparison.Ordinal)))
                            .Select(static one => one.Key).Order(),
                        Match(table, topic).Order());
                }
            }));

    [Fact]
    public void A_node_has_a_bounded_number_of_prefixes_of_bounded_length()
    {
        var table = new InterestTable(maxPrefixes: 2);
        table.AddNode(1, static _ => true);
        table.AddNode(2, static _ => true);

        Assert.False(table.TryAdd(1, new byte[1025]));
        Assert.True(table.TryAdd(1, new byte[1024]));
        Assert.True(table.TryAdd(1, "a"u8));
        Assert.True(table.TryAdd(1, "a"u8));
        Assert.False(table.TryAdd(1, "b"u8));
        Assert.True(table.TryAdd(2, "b"u8));
        table.Remove(1, "a"u8);
        Assert.True(table.TryAdd(1, "b"u8));

        Assert.Equal([1UL, 2UL], Match(table, "b").Order());
        Assert.Empty(Match(table, "a"));
    }

    [Fact]
    public void A_node_is_asked_again_when_there_is_room_and_some_were_refused_to_it()
    {
        var table = new InterestTable(maxPrefixes: 3);
        table.AddNode(1, static _ => true);
        foreach (string kept in (string[])["a", "b", "c"])
        {
            Assert.True(table.TryAdd(1, Encoding.UTF8.GetBytes(kept), out int none));
            Assert.Equal(0, none);
        }

        Assert.False(table.TryAdd(1, new byte[1025], out int tooLong));
        Assert.False(table.TryAdd(1, "d"u8, out int first));
        Assert.False(table.TryAdd(1, "e"u8, out int second));
        Assert.Equal((0, 1, 2), (tooLong, first, second));
        Assert.True(table.Remove(1, "a"u8));
        table.TryAdd(1, "f"u8);
        Assert.False(table.Remove(1, "b"u8));

        // It has been asked. While it tells, what it wanted before still takes the room.
        Assert.False(table.Remove(1, "c"u8));
        table.TryAdd(1, "x"u8);
        table.TryAdd(1, "y"u8);
        table.Begin(1);
        table.TryAdd(1, "c"u8);
        table.TryAdd(1, "d"u8);
        table.TryAdd(1, "e"u8);
        Assert.True(table.End(1));
        table.Begin(1);
        table.TryAdd(1, "c"u8);
        table.TryAdd(1, "d"u8);
        table.TryAdd(1, "e"u8);
        Assert.False(table.End(1));

        Assert.Equal([1UL], Match(table, "e"));
    }

    [Fact]
    public void A_prefix_that_comes_and_goes_at_the_limit_has_nothing_told_again()
    {
        var table = new InterestTable(maxPrefixes: 100);
        table.AddNode(1, static _ => true);
        for (byte i = 0; i < 100; i++)
        {
            Assert.True(table.TryAdd(1, [i]));
        }

        Assert.False(table.TryAdd(1, [100]));

        // Nor is it forgotten that one was refused when one goes that was not told of.
        Assert.False(table.Remove(1, [200]));
        for (int again = 0; again < 3; again++)
        {
            Assert.False(table.Remove(1, [0]));
            Assert.True(table.TryAdd(1, [0]));
        }

        Assert.All(Enumerable.Range(0, 5), i => Assert.False(table.Remove(1, [(byte)i])));
        Assert.True(table.Remove(1, [5]));
        Assert.False(table.Remove(1, [6]));
    }

    [Fact]
    public async Task A_node_that_has_left_leaves_nothing()
    {
        var table = new InterestTable();
        table.AddNode(1, static _ => true);
        table.TryAdd(1, "a"u8);
        await table.RemoveNodeAsync(1).InTimeAsync();

        // The news that it has joined is older than that it has left.
        table.AddNode(1, static _ => false);

        Assert.False(table.TryAdd(1, "a"u8));
        Assert.Equal(0, table.Count);
    }

    [Fact]
    public async Task A_node_may_join_again_while_what_it_wanted_before_is_forgotten()
    {
        const int Prefixes = 10_000;
        var table = new InterestTable();
        table.AddNode(1, static _ => true);
        table.AddNode(2, static _ => true);
        for (int i = 0; i < Prefixes; i++)
        {
            table.TryAdd(1, Encoding.UTF8.GetBytes($"topic-{i}"));
        }

        Task removing = table.RemoveNodeAsync(1);
        table.AddNode(1, static _ => true);
        table.TryAdd(1, "topic-7"u8);
        table.TryAdd(2, "topic-8"u8);
        await removing.InTimeAsync();

        Assert.Equal(2, table.Count);
        Assert.Equal([1UL], Match(table, "topic-7"));
        Assert.Equal([2UL], Match(table, "topic-8"));
        Assert.Empty(Match(table, "topic-9"));
    }

    [Fact]
    public async Task Those_who_look_find_what_stays_while_others_change_around_it()
    {
        var table = new InterestTable();
        for (ulong node = 1; node <= 70; node++)
        {
            table.AddNode(node, static _ => true);
        }

        table.TryAdd(1, "a"u8);
        table.TryAdd(70, "aa"u8);
        using var stop = new CancellationTokenSource();
        Task changing = Task.Run(async () =>
        {
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                ulong node = (ulong)(2 + (i % 68));
                table.TryAdd(node, "a"u8);
                table.TryAdd(node, "aab"u8);
                table.Remove(node, "a"u8);
                await table.RemoveNodeAsync(node);
                table.AddNode(node, static _ => true);
            }
        });

        for (int i = 0; i < 20_000; i++)
        {
            List<ulong> found = Match(table, "aab");
            Assert.Contains(1UL, found);
            Assert.Contains(70UL, found);
            Assert.Equal(found.Count, found.Distinct().Count());
        }

        await stop.CancelAsync();
        await changing;
    }

    private static void Take(
        InterestTable table, Dictionary<ulong, (HashSet<string> Wanted, HashSet<string> Told)> model, Step step, ulong node, string prefix)
    {
        bool isThere = model.TryGetValue(node, out (HashSet<string> Wanted, HashSet<string> Told) one);
        switch (step)
        {
            case Step.Wanted:
                Assert.Equal(isThere, table.TryAdd(node, Encoding.UTF8.GetBytes(prefix)));
                one.Wanted?.Add(prefix);
                one.Told?.Add(prefix);
                break;
            case Step.Unwanted:
                table.Remove(node, Encoding.UTF8.GetBytes(prefix));
                one.Wanted?.Remove(prefix);
                break;
            case Step.Begin:
                table.Begin(node);
                one.Told?.Clear();
                break;
            case Step.End:
                table.End(node);
                one.Wanted?.IntersectWith(one.Told);
                break;
            case Step.Joined:
                table.AddNode(node, static _ => true);
                model.TryAdd(node, ([], []));
                break;
            case Step.Left:
                table.RemoveNodeAsync(node).Wait();
                model.Remove(node);
                break;
        }
    }

    private static List<ulong> Match(InterestTable table, string topic)
    {
        List<ulong> nodes = [];
        InterestTable.Matches matches = table.Match(Encoding.UTF8.GetBytes(topic), new ulong[InterestTable.MarkWords]);
        while (matches.MoveNext())
        {
            nodes.Add(matches.Current);
        }

        return nodes;
    }
}
