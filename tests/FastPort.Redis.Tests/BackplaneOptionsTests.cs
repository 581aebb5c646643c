using FastPort.Redis.Connecting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>What is wrong in section <c>Backplane</c> is told without its secrets.</summary>
public sealed class BackplaneOptionsTests
{
    private const string Example = "give addresses and options of Redis, for example 127.0.0.1:6379.";

    [Theory]
    [InlineData("redis:6379,pasword=s3cret", "part 2 of 2, between commas, is neither an address nor a known option with a value; ")]
    [InlineData("password=s3c,ret=,redis:6379", "part 2 of 3, between commas, is neither an address nor a known option with a value; ")]
    [InlineData(
        "redis:6379,user=a,connectTimeout=s3cret", "part 3 of 3, between commas, is neither an address nor a known option with a value; ")]
    [InlineData("password=s3cret", "it has no address; ")]
    public void A_connection_that_cannot_be_used_is_not_shown(string connection, string why)
    {
        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(
            () => Read("FastPort:Backplane:Connection", connection));

        Assert.Equal(
            $"FastPort:Backplane:Connection is not usable ({connection.Length} characters); {why}{Example}",
            Assert.Single(failure.Failures));
    }

    [Fact]
    public void A_connection_in_the_place_of_the_section_is_not_shown()
    {
        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(
            () => Read("FastPort:Backplane", "redis:6379,password=s3cret"));

        Assert.Equal("FastPort:Backplane is a single value; give a section with keys.", Assert.Single(failure.Failures));
    }

    [Fact]
    public void An_address_with_options_is_read()
    {
        Assert.Equal("redis:6379,password=s3cret,", Read("FastPort:Backplane:Connection", "redis:6379,password=s3cret,"));
    }

    /// <summary>What is behind the comma would be one more server, and be named in messages.</summary>
    [Theory]
    [InlineData("redis:6379,password=s3c,ret")]
    [InlineData("redis:6379,user=a,password=s3c,ssl=true,ret")]
    public void A_comma_in_a_password_is_refused_with_how_to_write_it(string connection)
    {
        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(
            () => Read("FastPort:Backplane:Connection", connection));

        int parts = connection.Split(',').Length;
        Assert.Equal(
            $"FastPort:Backplane:Connection is not usable ({connection.Length} characters); part {parts} of {parts}, between commas, is an "
            + "address after a password. Put addresses first; a password with a comma is given as redis://:PASSWORD@127.0.0.1:6379 with "
            + "%2C for the comma.",
            Assert.Single(failure.Failures));
    }

    [Theory]
    [InlineData("redis://h", "h:6379", false, null, null, null)]
    [InlineData("rediss://:p%3A%40w@h", "h:6379", true, null, "p:@w", null)]
    [InlineData("REDIS://a%40b:p:w@h:1,[::1]:2/3?protocol=resp2", "h:1,[::1]:2", false, "a@b", "p:w", 3)]
    [InlineData("redis://u:p@s:26379/?serviceName=fp&sentinelPassword=x%3Dy", "s:26379", false, "u", "p", null)]
    public void A_URL_says_where_Redis_is(string url, string hosts, bool ssl, string? user, string? password, int? database)
    {
        ConfigurationOptions read = ConnectionText.Parse(url);

        Assert.Equal(hosts, string.Join(',', read.EndPoints.Select(static one => one.ToString()!.Split('/')[^1])));
        Assert.Equal((ssl, user, password, database), (read.Ssl, read.User, read.Password, read.DefaultDatabase));
        Assert.Equal(url.Contains("resp2", StringComparison.Ordinal) ? RedisProtocol.Resp2 : null, read.Protocol);
        Assert.Equal(url.Contains("sentinel", StringComparison.Ordinal) ? "x=y" : password, read.SentinelPassword);
    }

    [Theory]
    [InlineData("redis://s3cret@redis:6379")]
    [InlineData("redis://:s3c/ret@redis:6379")]
    [InlineData("redis://:s3cret@")]
    [InlineData("redis://:s3cret@redis:6379/zero")]
    [InlineData("redis://:s3cret@redis:6379?pasword=x")]
    [InlineData("redis://:s3cret@redis:6379?ssl")]
    [InlineData("rediss://:s3cret@redis:6379?proxy=a,b")]
    public void A_URL_that_cannot_be_used_is_not_shown(string connection)
    {
        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(
            () => Read("FastPort:Backplane:Connection", connection));

        Assert.StartsWith(
            $"FastPort:Backplane:Connection is not usable ({connection.Length} characters); give redis://user:password@host:6379/0",
            Assert.Single(failure.Failures),
            StringComparison.Ordinal);
    }

    [Fact]
    public void An_empty_connection_is_named_so()
    {
        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(() => Read("FastPort:Backplane:Connection", ""));

        Assert.Equal($"FastPort:Backplane:Connection is empty; {Example}", Assert.Single(failure.Failures));
    }

    /// <summary>Routing id "id:x" of prefix "p" and "x" of "p:id" would have the same key.</summary>
    [Fact]
    public void A_prefix_with_a_colon_is_refused()
    {
        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(() => Read("FastPort:Backplane:KeyPrefix", "p:id"));

        Assert.Equal(
            "FastPort:Backplane:KeyPrefix is 'p:id'; give 1 to 64 letters, digits or -_.; a colon ends the prefix in keys.",
            Assert.Single(failure.Failures));
    }

    private static string Read(string key, string value)
    {
        IConfiguration configuration = new ConfigurationBuilder().AddInMemoryCollection([new(key, value)]).Build();
        var services = new ServiceCollection();
        services.AddFastPort(configuration).AddRedisBackplane(configuration);
        using ServiceProvider provider = services.BuildServiceProvider();
        return provider.GetRequiredService<IOptions<RedisBackplaneOptions>>().Value.Connection;
    }
}
