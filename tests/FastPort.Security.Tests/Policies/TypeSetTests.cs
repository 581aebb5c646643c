using FastPort.Security.Policies;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Security.Tests.Policies;

public sealed class TypeSetTests
{
    [Fact]
    public void A_range_has_exactly_its_types() => Prop.ForAll<ushort, ushort>(static (a, b) =>
    {
        (ushort first, ushort last) = a < b ? (a, b) : (b, a);
        var set = new TypeSet();
        Assert.True(set.TryAdd($"0x{first:x}-{last}"));
        return Enumerable.Range(0, 65536).All(type => set.Contains((ushort)type) == (type >= first && type <= last));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void All_types_end()
    {
        var set = new TypeSet();

        Assert.True(set.TryAdd("*"));

        Assert.Equal("0x0000-0xFFFF", set.ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData("0x")]
    [InlineData("-1")]
    [InlineData("1-")]
    [InlineData("1--2")]
    [InlineData("1-2-3")]
    [InlineData("65536")]
    [InlineData(" 1")]
    [InlineData("**")]
    public void Other_texts_are_refused_and_add_nothing(string text)
    {
        var set = new TypeSet();

        Assert.False(set.TryAdd(text));

        Assert.Equal("nothing", set.ToString());
    }
}
