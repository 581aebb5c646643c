using System.Collections.Concurrent;
using System.Text;
using FastPort.Redis.Directory;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Redis.Tests.Directory;

public sealed class ClaimWalkTests
{
    private const int Turns = 30;

    [Fact]
    public void Each_claim_is_taken_once_in_a_round_and_about_as_many_in_each_turn() => Prop.ForAll(
        Gen.Choose(0, 2000).ToArbitrary(),
        static count =>
        {
            ConcurrentDictionary<byte[], OwnId> claims = new();
            Add(claims, count);
            var walk = new ClaimWalk(claims, Turns);

            // The sum of the turns' shares may be a little less than the whole.
            List<List<OwnId>> round = [.. Enumerable.Range(0, Turns).Select(_ => walk.NextTurn())];

            OwnId[] taken = [.. round.SelectMany(static turn => turn)];
            Assert.InRange(taken.Length, count - 1, count);
            Assert.Equal(taken.Length, taken.Distinct().Count());
            Assert.All(round, turn => Assert.InRange(turn.Count, count / Turns, (count / Turns) + 1));
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void With_a_limit_a_round_takes_more_turns()
    {
        ConcurrentDictionary<byte[], OwnId> claims = new();
        Add(claims, 100);
        var walk = new ClaimWalk(claims, turnsOfRound: 4);

        List<List<OwnId>> round = [.. Enumerable.Range(0, 40).Select(_ => walk.NextTurn(most: 2.5))];

        Assert.All(round, static turn => Assert.InRange(turn.Count, 2, 3));
        Assert.Equal(100, round.SelectMany(static turn => turn).Distinct().Count());
    }

    [Fact]
    public void Claims_that_stay_are_taken_however_others_come_and_go() => Prop.ForAll(
        Gen.Choose(0, 255).ArrayOf(8 * Turns).ToArbitrary(),
        static changes =>
        {
            ConcurrentDictionary<byte[], OwnId> claims = new();
            OwnId[] staying = Add(claims, 50);
            var walk = new ClaimWalk(claims, Turns);
            HashSet<OwnId> taken = [];
            Stack<OwnId> others = [];

            // After the changes the walk is at the latest in its second round, which may begin in any turn.
            for (int turn = 0; turn < 4 * Turns; turn++)
            {
                foreach (int change in changes.Skip(turn * 8).Take(8))
                {
                    if (change % 2 == 0)
                    {
                        others.Push(Add(claims, 1)[0]);
                    }
                    else if (others.TryPop(out OwnId? gone))
                    {
                        claims.TryRemove(gone.Utf8, out _);
                    }
                }

                taken.UnionWith(walk.NextTurn());
            }

            Assert.Superset(staying.ToHashSet(), taken);
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_round_does_not_take_longer_after_most_claims_have_gone()
    {
        ConcurrentDictionary<byte[], OwnId> claims = new();
        OwnId[] first = Add(claims, 1000);
        var walk = new ClaimWalk(claims, Turns);
        Assert.NotEmpty(walk.NextTurn());

        // The table grows, so that the walk goes on in the old one, and then has few claims left.
        OwnId[] all = [.. first, .. Add(claims, 9000)];
        OwnId[] staying = all[500..600];
        foreach (OwnId gone in all.Except(staying))
        {
            claims.TryRemove(gone.Utf8, out _);
            gone.IsGone = true;
        }

        HashSet<OwnId> taken = [.. Enumerable.Range(0, (2 * Turns) + 2).SelectMany(_ => walk.NextTurn())];

        Assert.Superset(staying.ToHashSet(), taken);
    }

    [Fact]
    public void A_table_that_has_become_empty_has_turns_without_claims()
    {
        ConcurrentDictionary<byte[], OwnId> claims = new();
        Add(claims, 100);
        var walk = new ClaimWalk(claims, Turns);
        Assert.NotEmpty(walk.NextTurn());

        claims.Clear();

        Assert.All(Enumerable.Range(0, 2 * Turns), _ => walk.NextTurn());
        Assert.Empty(walk.NextTurn());
    }

    private static OwnId[] Add(ConcurrentDictionary<byte[], OwnId> claims, int count)
    {
        var added = new OwnId[count];
        for (int i = 0; i < count; i++)
        {
            added[i] = new OwnId(Encoding.UTF8.GetBytes($"id-{i}"));
            claims[added[i].Utf8] = added[i];
        }

        return added;
    }
}
