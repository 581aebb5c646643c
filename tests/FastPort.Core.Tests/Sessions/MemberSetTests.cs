using FastPort.Sessions;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Sessions;

public sealed class MemberSetTests
{
    [Fact]
    public void Holds_what_a_HashSet_holds()
    {
        object[] members = [.. Enumerable.Range(0, 60).Select(static i => (object)$"member {i}")];
        Gen<(bool Add, int Member)[]> changes =
            Gen.Choose(0, 2).SelectMany(static _ => Gen.Choose(0, 59), static (kind, member) => (kind != 0, member)).ArrayOf(200);
        Check.One(
            Config.QuickThrowOnFailure,
            Prop.ForAll(changes.ToArbitrary(), list =>
            {
                var set = new MemberSet<object>();
                HashSet<object> model = [];
                foreach ((bool add, int member) in list.Concat(Enumerable.Range(0, 60).Select(static i => (false, i))))
                {
                    Assert.Equal(
                        add ? model.Add(members[member]) : model.Remove(members[member]), add
                            ? set.Add(members[member])
                            : set.Remove(members[member]));
                    Assert.Equal(model.Count, set.Count);
                    Assert.Equal(model.ToHashSet(), All(set));
                }

                Assert.InRange(set.Members.Length, 0, 16);
            }));
    }

    [Fact]
    public async Task Whoever_goes_over_it_finds_those_who_stay()
    {
        var set = new MemberSet<object>();
        object[] staying = [.. Enumerable.Range(0, 20).Select(static i => (object)i)];
        object[] passing = [.. Enumerable.Range(100, 200).Select(static i => (object)i)];
        foreach (object member in staying)
        {
            set.Add(member);
        }

        using var stop = new CancellationTokenSource();
        Task changing = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                Array.ForEach(passing, m => set.Add(m));
                Array.ForEach(passing, m => set.Remove(m));
            }
        });
        for (int i = 0; i < 20_000; i++)
        {
            Assert.Equal(staying, AllOf(set).Where(static m => (int)m < 100).Order());
        }

        await stop.CancelAsync();
        await changing;
    }

    private static List<object> AllOf(MemberSet<object> set) => [.. set.Members.ToArray().OfType<object>()];

    private static HashSet<object> All(MemberSet<object> set)
    {
        List<object> all = AllOf(set);
        HashSet<object> distinct = [.. all];
        Assert.Equal(distinct.Count, all.Count);
        return distinct;
    }
}
