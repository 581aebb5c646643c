using System.Text;
using FastPort.Routing;
using FastPort.Telemetry;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <summary>What others are told about a server's subscriptions.</summary>
public sealed class TopicInterestsTests
{
    private static readonly string[] Prefixes = ["", "a", "ab", "b"];

    private static readonly Gen<(int Session, bool Subscribes, TopicAudience By, string Prefix)[]> Changes =
        (from session in Gen.Choose(0, 2)
         from subscribes in Gen.Elements(true, true, false)
         from side in Gen.Elements(TopicAudience.Peers, TopicAudience.Server)
         from prefix in Gen.Elements(Prefixes)
         select (session, subscribes, side, prefix)).ArrayOf();

    [Fact]
    public void A_prefix_is_wanted_while_some_session_is_subscribed_to_it_on_either_side() => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(200),
        Prop.ForAll(
            Changes.ToArbitrary(),
            static changes =>
            {
                var told = new Told();
                var index = new TopicIndex(new RoutingOptions { MaxTopicChangesPerSecond = 1_000_000 }, new SessionCounters(), told);
                QuietSession[] sessions = [new(), new(), new()];
                HashSet<(int, TopicAudience, string)> model = [];
                foreach ((int session, bool subscribes, TopicAudience by, string prefix) in changes)
                {
                    if (subscribes)
                    {
                        index.Subscribe(sessions[session].Session, Encoding.UTF8.GetBytes(prefix), by);
                        model.Add((session, by, prefix));
                    }
                    else
                    {
                        index.Unsubscribe(sessions[session].Session, Encoding.UTF8.GetBytes(prefix), by, limited: false);
                        model.Remove((session, by, prefix));
                    }

                    Assert.Equal(model.Select(static one => one.Item3).Distinct().Order(), told.Prefixes.Order());
                }

                foreach (QuietSession session in sessions)
                {
                    session.Dispose();
                }

                Assert.Empty(told.Prefixes);
            }));

    private sealed class Told : ITopicInterests
    {
        public HashSet<string> Prefixes { get; } = [];

        // Each prefix in turn wanted and unwanted, never twice the same.
        public void Wanted(ReadOnlySpan<byte> prefix) => Assert.True(Prefixes.Add(Encoding.UTF8.GetString(prefix)));

        public void Unwanted(ReadOnlySpan<byte> prefix) => Assert.True(Prefixes.Remove(Encoding.UTF8.GetString(prefix)));
    }
}
