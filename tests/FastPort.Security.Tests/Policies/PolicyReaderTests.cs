using System.Security.Claims;
using System.Text;
using FastPort.Framing;
using FastPort.Security.Policies;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Security.Tests.Policies;

/// <summary>What a policy's text means, and what is wrong with one.</summary>
public sealed class PolicyReaderTests
{
    [Fact]
    public void Rules_add_up_and_nothing_else_is_allowed()
    {
        Policy policy = Read(
            """
            {
              // Comments and trailing commas are allowed.
              "rules": [
                { "for": ["*"], "send": ["0x0100"] },
                { "note": "the operators", "for": ["role:operator"], "send": ["0x1000-0x10FF", "4500"], "peers": true },
                { "for": ["user:a*"], "relayTo": ["b"], "publish": ["news/*"], "subscribe": ["news/*"] },
              ],
            }
            """);

        Grants both = policy.For(User("anna", "operator"));
        Grants one = policy.For(User("berta", "operator"));
        Grants none = policy.For(null);

        Assert.True(both.Allow(0x10FF, null) && both.Allow(4500, null) && both.Allow(0x0100, null) && both.Allow(ControlType.Peers, null));
        Assert.False(both.Allow(0x1100, null) || both.Allow(4501, null) || both.Allow(0x0200, null));
        Assert.True(both.Allow(ControlType.Relay, "b") && both.Allow(ControlType.Publish, "news/x"));
        Assert.False(both.Allow(ControlType.Relay, "bb") || both.Allow(ControlType.Publish, "new") || one.Allow(ControlType.Relay, "b"));
        Assert.True(none.Allow(0x0100, null) && !none.Allow(0x1000, null) && !none.Allow(ControlType.Peers, null));
        Assert.True(none.Allow(ControlType.Unsubscribe, "anything"));
    }

    [Theory]
    [InlineData("news/", true)]
    [InlineData("news/today", true)]
    [InlineData("news", false)]
    [InlineData("", false)]
    public void A_subscription_must_lie_within_a_pattern(string prefix, bool allowed) => Assert.Equal(
        allowed,
        Read("""{ "rules": [ { "for": ["*"], "subscribe": ["news/*"] } ] }""").For(null).Allow(ControlType.Subscribe, prefix));

    [Fact]
    public void Authenticated_and_anonymous_are_told_apart()
    {
        Policy policy = Read(
            """{ "rules": [ { "for": ["authenticated"], "send": ["1000"] }, { "for": ["anonymous"], "send": ["2000"] } ] }""");

        Assert.True(policy.For(User("a")).Allow(1000, null) && !policy.For(User("a")).Allow(2000, null));
        Assert.True(!policy.For(null).Allow(1000, null) && policy.For(null).Allow(2000, null));
        Assert.True(policy.For(new ClaimsPrincipal(new ClaimsIdentity())).Allow(2000, null));
    }

    [Fact]
    public void A_name_is_not_a_role()
    {
        Policy policy = Read("""{ "rules": [ { "for": ["role:admin"], "send": ["1000"] } ] }""");

        Assert.False(policy.For(User("admin")).Allow(1000, null));
        Assert.True(policy.For(User("x", "admin")).Allow(1000, null));
    }

    [Fact]
    public void Identities_with_the_same_rules_share_their_grants()
    {
        Policy policy = Read("""{ "rules": [ { "for": ["role:r"], "send": ["1000"] } ] }""");

        Assert.Same(policy.For(User("a", "r")), policy.For(User("b", "r")));
        Assert.NotSame(policy.For(User("a", "r")), policy.For(User("b")));
    }

    [Theory]
    [InlineData("", "JSON")]
    [InlineData("[]", "object")]
    [InlineData("{}", "no \"rules\"")]
    [InlineData("""{ "rule": [] }""", "'rule' is unknown")]
    [InlineData("""{ "rules": {} }""", "not an array")]
    [InlineData("""{ "rules": [ 1 ] }""", "rules[0] is not an object")]
    [InlineData("""{ "rules": [ { "send": ["*"] } ] }""", "rules[0] has no \"for\"")]
    [InlineData("""{ "rules": [ { "for": ["admin"] } ] }""", "\"admin\"")]
    [InlineData("""{ "rules": [ { "for": ["user:"] } ] }""", "\"user:\"")]
    [InlineData("""{ "rules": [ { "for": "*" } ] }""", "rules[0].for is not an array")]
    [InlineData("""{ "rules": [ { "for": ["*"], "send": ["0x10000"] } ] }""", "rules[0].send has \"0x10000\"")]
    [InlineData("""{ "rules": [ { "for": ["*"], "send": ["9-8"] } ] }""", "\"9-8\"")]
    [InlineData("""{ "rules": [ { "for": ["*"], "send": [1000] } ] }""", "rules[0].send has 1000")]
    [InlineData("""{ "rules": [ { "for": ["*"], "subscribe": ["news"] } ] }""", "always covers all topics with a prefix")]
    [InlineData("""{ "rules": [ { "for": ["*"], "publish": ["a*b"] } ] }""", "\"a*b\"")]
    [InlineData("""{ "rules": [ { "for": ["*"], "peers": "yes" } ] }""", "allowed: true, false")]
    [InlineData("""{ "rules": [ { "for": ["*"], "deny": ["*"] } ] }""", "rules[0].deny is unknown")]
    [InlineData("""{ "rules": [], "rules": [] }""", "JSON")]
    [InlineData("""{ "rules": [ { "for": ["user:\ud800"] } ] }""", "invalid string")]
    public void What_is_wrong_is_said(string text, string problem)
    {
        List<string> problems = [];

        Assert.Null(PolicyReader.Read(Encoding.UTF8.GetBytes(text), problems));

        Assert.Contains(problems, one => one.Contains(problem, StringComparison.Ordinal));
    }

    [Fact]
    public void No_bytes_throw() => Prop.ForAll<byte[]>(static bytes =>
    {
        List<string> problems = [];
        return PolicyReader.Read(bytes, problems) is null == problems.Count > 0;
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void No_damage_to_a_policy_throws()
    {
        byte[] good = Encoding.UTF8.GetBytes(
            """{ "rules": [ { "for": ["role:a", "user:b*"], "send": ["0x1000-0x10FF"], "subscribe": ["n/*"], "peers": true } ] }""");
        Prop.ForAll<int, byte, int>((place, value, cut) =>
        {
            byte[] bytes = [.. good];
            bytes[(int)((uint)place % (uint)bytes.Length)] = value;
            List<string> problems = [];
            return PolicyReader.Read(bytes.AsMemory(0, (int)((uint)cut % (uint)(bytes.Length + 1))), problems) is null
                == problems.Count > 0;
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(3000));
    }

    [Fact]
    public void Grants_are_shown_as_they_would_be_written()
    {
        Policy policy = Read(
            """{ "rules": [ { "for": ["*"], "send": ["2", "0x1000-0x1002", "0x1003"], "publish": ["b", "a*", "ab*"] } ] }""");

        string[] lines = [.. policy.For(null).Describe()];

        Assert.Contains("send: 0x0002, 0x1000-0x1003", lines);
        Assert.Contains("publish: a*, b", lines);
        Assert.Contains("peers: false", lines);
    }

    internal static Policy Read(string text)
    {
        List<string> problems = [];
        Policy? policy = PolicyReader.Read(Encoding.UTF8.GetBytes(text), problems);
        Assert.Empty(problems);
        return policy!;
    }

    internal static ClaimsPrincipal User(string name, params string[] roles) => new(new ClaimsIdentity(
        [new Claim(ClaimTypes.Name, name), .. roles.Select(static r => new Claim(ClaimTypes.Role, r))], "test"));
}
