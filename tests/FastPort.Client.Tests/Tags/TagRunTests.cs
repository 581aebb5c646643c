using System.Text.Json;
using FastPort.Client.Tags;
using FastPort.Programs;
using FastPort.Tags;
using Xunit;

namespace FastPort.Client.Tests.Tags;

/// <summary>The commands of tags against a server of tags.</summary>
public sealed partial class TagRunTests : IAsyncLifetime
{
    private readonly MemoryTagSource _memory = new();
    private readonly StringWriter _output = new();
    private TagServer _tags = null!;
    private FastPortServer _server = null!;

    private string Endpoint => _server.Endpoints[0].ToString();

    public async ValueTask InitializeAsync()
    {
        _memory.Add("plant/speed", 1500.5, isWritable: true);
        _memory.Add("plant/state", "run\u001B[2Jning", isWritable: true);
        _memory.Add("plant/limits", TagValue.FromArray([1, 2]), isWritable: true);
        _memory.Add("plant/count", 7);
        _memory.Add("plant/line1/cell/temperature", 21.5);
        _memory.Add(new TagInfo(0, "plant/any") { Type = TagType.Null, IsWritable = true }, 5);
        _memory.Add("plant/key", TagValue.FromBytes(TagType.ByteString, [1, 2]), isWritable: true);
        _tags = new TagServer([_memory]);
        _server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapTags(_tags));
        await _server.StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        await _tags.DisposeAsync();
    }

    [Fact]
    public async Task Browse_lists_what_lies_below()
    {
        Assert.Equal(ExitCode.Good, await RunAsync("browse", new() { Names = [string.Empty] }));
        Assert.Contains("plant", _output.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("plant/speed", _output.ToString(), StringComparison.Ordinal);

        Assert.Equal(ExitCode.Good, await RunAsync("browse", new() { Names = [string.Empty], Recursive = true }));
        Assert.Contains("plant/speed", _output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Read_shows_values_and_fails_for_a_name_that_nobody_has()
    {
        Assert.Equal(ExitCode.Good, await RunAsync("read", new() { Names = ["plant/speed", "plant/c*"] }));
        Assert.Contains("1500.5", _output.ToString(), StringComparison.Ordinal);
        Assert.Contains("plant/count", _output.ToString(), StringComparison.Ordinal);

        Assert.Equal(ExitCode.Failed, await RunAsync("read", new() { Names = ["plant/nothing"] }));
        Assert.Contains("BadNodeIdUnknown", _output.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("plant/*", "plant/count", "plant/line1/cell/temperature")]
    [InlineData("pla*", "plant/count", "plant/line1/cell/temperature")]
    [InlineData("*", "plant/count", "plant/line1/cell/temperature")]
    [InlineData("plant/li*", "plant/limits", "plant/line1/cell/temperature")]
    [InlineData("plant/line1/*", "plant/line1/cell/temperature")]
    public async Task A_star_stands_for_all_tags_that_begin_so(string name, params string[] tags)
    {
        Assert.Equal(ExitCode.Good, await RunAsync("read", new() { Names = [name] }));

        Assert.All(tags, tag => Assert.Contains($" {tag} ", _output.ToString(), StringComparison.Ordinal));
        Assert.Equal(
            !name.StartsWith("plant/l", StringComparison.Ordinal), _output.ToString().Contains("plant/speed", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Control_characters_of_a_value_do_not_reach_the_terminal()
    {
        await RunAsync("read", new() { Names = ["plant/state"] });

        Assert.Contains("run\\u001B[2Jning", _output.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain('\u001B', _output.ToString());
    }

    [Fact]
    public async Task A_long_value_is_cut_and_the_rest_of_the_table_is_as_usual()
    {
        _memory.Add("plant/text", new string('x', 190));
        _memory.Add($"plant/{new string('n', 150)}", "short");

        await RunAsync("read", new() { Names = ["plant/text", "plant/count"] });

        string line = Assert.Single(_output.ToString().Split('\n'), static one => one.Contains("plant/text", StringComparison.Ordinal));
        Assert.Matches("xxx\\.\\.\\. +│ String +│ Good +│", line);
        Assert.InRange(line.Length, 100, 201);
        Assert.Contains("│ plant/count ", _output.ToString(), StringComparison.Ordinal);

        await RunAsync("browse", new() { Names = ["plant"] });
        Assert.Contains($"plant/{new string('n', 150)} │ tag ", _output.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("plant/😀 grün", "plant/😀 grün")]
    [InlineData("plant/a\nb", "plant/a\\u000Ab")]
    [InlineData("plant/\\u000A", "plant/\\u005Cu000A")]
    public async Task A_name_can_be_typed_as_it_is_shown(string name, string shown)
    {
        _memory.Add(name, 12345);

        await RunAsync("browse", new() { Names = ["plant"] });
        Assert.Contains($"│ {shown} ", _output.ToString(), StringComparison.Ordinal);

        Assert.Equal(ExitCode.Good, await RunAsync("read", new() { Names = [shown] }));
        Assert.Contains("12345", _output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Ids_and_texts_of_OPC_UA_are_shown_as_text()
    {
        var guid = new Guid("72962b91-fa75-4ae6-8d28-b404dc7daf63");
        _memory.Add("plant/guid", TagValue.FromBytes(TagType.Guid, guid.ToByteArray()));
        _memory.Add("plant/node", TagValue.FromBytes(TagType.NodeId, [3, 2, 0, 5, 0, 0, 0, .. "speed"u8]));
        _memory.Add("plant/text", TagValue.FromBytes(TagType.LocalizedText, [3, 2, 0, 0, 0, .. "de"u8, 5, 0, 0, 0, .. "läuf"u8]));
        byte[][] two = [[2, 0, 1, 0, 0, 0, .. "a"u8], [0, 0, 1, 0, 0, 0, .. "b"u8]];
        _memory.Add("plant/names", TagValue.FromElements(TagType.QualifiedName, two));
        string[] names = ["plant/guid", "plant/node", "plant/text", "plant/names"];

        await RunAsync("read", new() { Names = names });
        Assert.All(
            [$"{guid}", "ns=2;s=speed", " läuf ", "[2:a, b]"],
            text => Assert.Contains(text, _output.ToString(), StringComparison.Ordinal));

        _output.GetStringBuilder().Clear();
        await RunAsync("read", new() { Names = names, Json = true });
        using JsonDocument json = JsonDocument.Parse(_output.ToString());
        Assert.Equal(
            [$"\"{guid}\"", "\"ns=2;s=speed\"", "\"l\\u00E4uf\"", "[\"2:a\",\"b\"]"],
            json.RootElement.EnumerateArray().Select(static one => JsonSerializer.Serialize(one.GetProperty("value"))));
    }

    [Theory]
    [InlineData(0x808C_0000, "BadSensorFailure")]
    [InlineData(0x808B_0000, "BadDeviceFailure")]
    [InlineData(0x4093_0000, "UncertainSensorNotAccurate")]
    [InlineData(0x8007_0000, "BadDecodingError")]
    [InlineData(0x808C_0400, "BadSensorFailure (0x808C0400)")]
    [InlineData(0x80FF_0000, "0x80FF0000")]
    public async Task A_status_has_the_name_of_the_standard(uint code, string name)
    {
        _memory.Add("plant/sensor", 1);
        _memory.Set("plant/sensor", 1, new TagStatus(code));

        await RunAsync("read", new() { Names = ["plant/sensor"] });

        Assert.Contains($" {name} ", _output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Json_has_the_value_with_its_type_status_and_times()
    {
        await RunAsync("read", new() { Names = ["plant/speed", "plant/limits"], Json = true });

        using JsonDocument json = JsonDocument.Parse(_output.ToString());
        JsonElement speed = json.RootElement[0];
        Assert.Equal(("plant/speed", 1500.5), (speed.GetProperty("name").GetString(), speed.GetProperty("value").GetDouble()));
        Assert.Equal(("Double", "Good"), (speed.GetProperty("type").GetString(), speed.GetProperty("status").GetString()));
        Assert.True(speed.GetProperty("sourceTime").GetDateTime() > DateTime.UnixEpoch);
        Assert.Equal([1, 2], json.RootElement[1].GetProperty("value").EnumerateArray().Select(static e => e.GetInt32()));
    }

    [Fact]
    public async Task Write_reads_values_as_the_tags_types()
    {
        Assert.Equal(ExitCode.Good, await RunAsync("write", new() { Names = ["plant/speed", "900", "plant/limits", "[3, 4, 5]"] }));
        await using TagClient client = await TagClient.ConnectAsync(Endpoint);
        Assert.Equal(900.0, (await client.ReadAsync("plant/speed")).Value);
        Assert.Equal(TagValue.FromArray([3, 4, 5]), (await client.ReadAsync("plant/limits")).Value);

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => RunAsync("write", new() { Names = ["plant/speed", "fast"] }));
        Assert.Equal("'fast' is not a value for plant/speed; give a value of type Double, such as 1200.5.", e.Message);
        e = await Assert.ThrowsAsync<TagCommandFailedException>(() => RunAsync("write", new() { Names = ["plant/speed"] }));
        Assert.Equal("'plant/speed' has no value; give a value after each name.", e.Message);
        Assert.Equal(ExitCode.Failed, await RunAsync("write", new() { Names = ["plant/count", "8"] }));
    }

    /// <summary>As a variable of OPC UA whose DataType is BaseDataType or Number.</summary>
    [Fact]
    public async Task Write_to_a_tag_without_a_type_takes_that_of_its_value()
    {
        Assert.Equal(ExitCode.Good, await RunAsync("write", new() { Names = ["plant/any", "900"] }));

        await using TagClient client = await TagClient.ConnectAsync(Endpoint);
        Assert.Equal(900, (await client.ReadAsync("plant/any")).Value);
    }

    [Theory]
    [InlineData("plant/speed", "1,5", "a value of type Double, such as 1200.5")]
    [InlineData("plant/on", "1", "a value of type Boolean: true or false")]
    [InlineData("plant/level", "0x1F", "a value of type Byte: 0 to 255")]
    [InlineData("plant/start", "31.12.2026", "a value of type DateTime, such as 2026-01-31T12:00:00Z")]
    [InlineData("plant/limits", "1;2", "a list of Int32, such as [1, 2, 3]")]
    public async Task A_refused_value_comes_with_one_that_is_allowed(string name, string value, string form)
    {
        _memory.Add("plant/on", true, isWritable: true);
        _memory.Add("plant/level", TagValue.From((byte)1), isWritable: true);
        _memory.Add("plant/start", DateTime.UnixEpoch, isWritable: true);

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => RunAsync("write", new() { Names = [name, value] }));

        Assert.Equal((ExitCode.Usage, $"'{value}' is not a value for {name}; give {form}."), (e.ExitCode, e.Message));
    }

    /// <summary>This is a configured tag of an OPC UA server to which the bridge has not connected yet.</summary>
    [Fact]
    public async Task A_write_to_a_tag_whose_type_cannot_be_read_says_why()
    {
        _memory.Set("plant/any", default, TagStatus.BadNoCommunication);

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => RunAsync("write", new() { Names = ["plant/any", "5"] }));

        Assert.Equal(
            (ExitCode.Failed, "plant/any cannot be written now: its type is not known, and a read of it returned BadNoCommunication."),
            (e.ExitCode, e.Message));
    }

    /// <summary>Without its date, a value of last week looks like a new one.</summary>
    [Fact]
    public async Task A_source_time_of_another_day_has_its_date()
    {
        var then = new DateTime(2001, 2, 3, 12, 30, 15, DateTimeKind.Utc);
        var old = new MemoryTagSource("old", new ClockAt(then));
        old.Add("old/value", 5);
        await using var tags = new TagServer([old]);
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapTags(tags));
        await server.StartAsync();
        TagSettings settings = new() { Endpoint = server.Endpoints[0].ToString(), Names = ["old/value"], Count = 1 };
        string shown = $"{then.ToLocalTime():yyyy-MM-dd HH:mm:ss.fff}";

        await new TagRun(settings, _output).RunAsync("read", TestContext.Current.CancellationToken);
        Assert.Contains($"│ {shown} │", _output.ToString(), StringComparison.Ordinal);

        _output.GetStringBuilder().Clear();
        await new TagRun(settings, _output).RunAsync("watch", TestContext.Current.CancellationToken);
        Assert.StartsWith($"{shown}  old/value  5", _output.ToString(), StringComparison.Ordinal);
    }

    /// <summary>A missing permission must not look like a missing tag.</summary>
    [Fact]
    public async Task A_tag_that_the_user_may_not_use_is_not_said_to_be_unknown()
    {
        await using var tags = new TagServer([_memory], authorizer: static (_, _, name, _) => name != "plant/speed");
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapTags(tags));
        await server.StartAsync();
        TagSettings settings = new() { Endpoint = server.Endpoints[0].ToString(), Names = ["plant/speed"] };

        Assert.Equal(ExitCode.Failed, await new TagRun(settings, _output).RunAsync("read", TestContext.Current.CancellationToken));
        Assert.Contains(" BadUserAccessDenied ", _output.ToString(), StringComparison.Ordinal);

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => new TagRun(settings, _output).RunAsync("watch", TestContext.Current.CancellationToken));
        Assert.Equal("'plant/speed' cannot be watched: BadUserAccessDenied.", e.Message);
    }

    [Theory]
    [InlineData("", " Name a file with a token: --token-file FILE.")]
    [InlineData("token", "")]
    public async Task A_server_that_demands_a_token_gets_one_with_an_option(string file, string advice)
    {
        using var folder = new TemporaryDirectory();
        string path = file.Length == 0 ? string.Empty : Path.Combine(folder.Path, file);
        await File.WriteAllTextAsync(Path.Combine(folder.Path, "token"), "wrong", TestContext.Current.CancellationToken);
        var components = new FastPortServerComponents
        {
            Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Refuse("No.")),
        };
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapTags(_tags), components);
        await server.StartAsync();
        string endpoint = server.Endpoints[0].ToString();

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => new TagRun(new() { Endpoint = endpoint, Names = ["plant/speed"], TokenFile = path }, _output)
                .RunAsync("read", TestContext.Current.CancellationToken));

        Assert.Equal($"{endpoint}: Unauthenticated: No.{advice}", e.Message);
    }

    [Fact]
    public async Task A_name_that_begins_with_a_slash_is_found_by_browsing()
    {
        _memory.Add("/pump/speed", 12345);

        await new TagRun(new() { Endpoint = Endpoint, Names = [""], Recursive = true }, _output).RunAsync("browse", Patience.Token);
        Assert.Contains("│ /pump/speed ", _output.ToString(), StringComparison.Ordinal);

        await new TagRun(new() { Endpoint = Endpoint, Names = ["/pu*"] }, _output).RunAsync("read", Patience.Token);
        Assert.Contains("12345", _output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_type_that_has_no_text_is_named()
    {
        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => RunAsync("write", new() { Names = ["plant/key", "AQI="] }));

        Assert.Equal("plant/key cannot be written from a command line: its type is ByteString.", e.Message);

        _memory.Add("plant/matrix", TagValue.FromArray([1, 2, 3, 4], 2, 2), isWritable: true);
        foreach (string list in (string[])["[1, 2, 3, 4]", "[[1, 2], [3, 4]]"])
        {
            e = await Assert.ThrowsAsync<TagCommandFailedException>(() => RunAsync("write", new() { Names = ["plant/matrix", list] }));
            Assert.Equal("plant/matrix cannot be written from a command line: its type is Int32[,].", e.Message);
        }
    }

    [Theory]
    [InlineData(new byte[0])]
    [InlineData(new byte[] { 0xFF })]
    public async Task A_malformed_reply_is_the_servers_and_no_wrong_argument(byte[] reply)
    {
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } },
            new MessageHandlers().MapInline(TagMessageType.Resolve, (ref InlineRequest request) => request.Reply(reply)));
        await server.StartAsync();
        string endpoint = server.Endpoints[0].ToString();

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => new TagRun(new() { Endpoint = endpoint, Names = ["x"] }, _output).RunAsync("read", CancellationToken.None));

        Assert.Equal(ExitCode.Failed, e.ExitCode);
        Assert.StartsWith(endpoint, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Watch_prints_changes_until_there_were_enough()
    {
        Assert.Equal(ExitCode.Good, await RunAsync("watch", new() { Names = ["plant/speed", "plant/count"], Count = 2 }));
        Assert.Equal(2, _output.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => RunAsync("watch", new() { Names = ["plant/nothing"] }));
        Assert.Contains("no tag 'plant/nothing'", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_a_bridge_it_says_how_to_start_one()
    {
        string endpoint = Endpoint;
        await _server.DisposeAsync();

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => new TagRun(new() { Endpoint = endpoint, Names = ["x"] }, _output).RunAsync("read", CancellationToken.None));

        Assert.Contains("The bridge starts with", e.Message, StringComparison.Ordinal);
    }

    private Task<int> RunAsync(string command, TagSettings settings) =>
        new TagRun(settings with { Endpoint = Endpoint }, _output).RunAsync(command, TestContext.Current.CancellationToken);

    private sealed class ClockAt(DateTime time) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => new(time);
    }
}
