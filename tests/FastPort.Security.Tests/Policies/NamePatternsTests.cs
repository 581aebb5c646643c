using FastPort.Security.Policies;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Security.Tests.Policies;

public sealed class NamePatternsTests
{
    [Fact]
    public void Names_and_prefixes_are_allowed_as_their_definition_says() => Prop.ForAll(
        Gen.Choose(0, 3).SelectMany(static n => Name(n)).ListOf(6).ToArbitrary(),
        Gen.Choose(0, 5).SelectMany(static n => Name(n)).ToArbitrary(),
        static (texts, name) =>
        {
            string[] patterns = [.. texts.Select(static (text, i) => i % 2 == 0 ? text + "*" : text)];
            var set = new NamePatterns(patterns);
            bool byPrefix = patterns.Any(p => p.EndsWith('*') && name.StartsWith(p[..^1], StringComparison.Ordinal));
            bool byName = patterns.Any(p => p == name);
            return set.AllowAllOf(name) == byPrefix && set.Allow(name) == (byPrefix || byName);
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void Nothing_allows_nothing()
    {
        var set = new NamePatterns([]);

        Assert.True(set.IsEmpty);
        Assert.False(set.Allow(string.Empty) || set.AllowAllOf(string.Empty));
    }

    private static Gen<string> Name(int length) =>
        Gen.Elements('a', 'b').ListOf(length).Select(static letters => string.Concat(letters));
}
