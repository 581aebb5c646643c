using System.Text;
using System.Text.Json;
using FastPort.Tags;
using FastPort.Security;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>The bridge with users and a policy, as a user runs it.</summary>
public sealed class TagPolicyTests : IDisposable
{
    private const string Rules =
        """
        { "rules": [
          { "for": ["role:operator"], "readTags": ["simulation/Int32.*"], "writeTags": ["simulation/Double.0"] },
          { "for": ["user:bert"], "readTags": ["simulation/Double.0"] } ] }
        """;

    private readonly string _directory = Directory.CreateTempSubdirectory("policy-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Tags_are_read_and_written_by_who_may_and_a_change_is_in_force_for_open_sessions()
    {
        UserFiles.Set(File("users"), "anna", "a", ["operator"]);
        UserFiles.Set(File("users"), "bert", "b", []);
        await System.IO.File.WriteAllTextAsync(File("policy"), Rules, TestContext.Current.CancellationToken);
        await using (BridgeProcess bridge = Start())
        {
            string endpoint = await bridge.ListeningAsync();
            await using TagClient anna = await ConnectAsync(endpoint, "anna:a");
            await using TagClient bert = await ConnectAsync(endpoint, "bert:b");
            await Assert.ThrowsAsync<RequestFailedException>(() => ConnectAsync(endpoint, "anna:b"));

            Assert.Equal(TagStatus.Good, (await ReadAsync(anna, "simulation/Int32.0")).Status);
            Assert.Equal(TagStatus.BadUserAccessDenied, (await ReadAsync(anna, "simulation/Double.0")).Status);
            Assert.Equal(TagStatus.Good, await anna.WriteAsync("simulation/Double.0", 7.5));
            Assert.Equal(TagStatus.BadUserAccessDenied, (await ReadAsync(bert, "simulation/Int32.0")).Status);
            Assert.Equal(TagStatus.BadUserAccessDenied, await bert.WriteAsync("simulation/Double.0", 1.5));

            // The simulation changes its values: which one it is now is not known.
            Assert.Equal(TagStatus.Good, (await ReadAsync(bert, "simulation/Double.0")).Status);
            Assert.Equal(TagStatus.BadUserAccessDenied, (await ReadAsync(bert, "nowhere/to.be.found")).Status);
            List<TagBrowseNode> seen = await bert.BrowseAsync("simulation").ToListAsync();
            Assert.Equal(["simulation/Double.0"], seen.Where(static n => n.Kind == TagBrowseKind.Tag).Select(static n => n.Name));

            TagList list = await anna.ResolveAsync(["simulation/Int32.0", "simulation/Int32.1"], Patience.Token);
            await using TagSubscription subscription = await anna.SubscribeAsync(list, new() { Interval = TimeSpan.FromMilliseconds(50) });
            await System.IO.File.WriteAllTextAsync(
                File("policy"), Rules.Replace("Int32.*", "Int32.1", StringComparison.Ordinal), TestContext.Current.CancellationToken);

            // The bridge looks once a second.
            await foreach (TagChange change in subscription.WithCancellation(Patience.Token))
            {
                if (change.Name == "simulation/Int32.0" && change.Sample.Status == TagStatus.BadUserAccessDenied)
                {
                    break;
                }
            }

            TagSamples read = await anna.ReadAsync(list);
            Assert.Equal([TagStatus.BadUserAccessDenied, TagStatus.Good], Enumerable.Range(0, 2).Select(read.GetStatus));
            Assert.Equal(0, await bridge.TerminateAsync());
            Assert.Empty(bridge.Errors);
        }

        JsonElement[] audit = [.. System.IO.File.ReadAllLines(File("audit")).Select(static l => JsonDocument.Parse(l).RootElement)];
        Assert.Contains("bert writeTags simulation/Double.0", audit.Select(Refusal));
        Assert.Contains("anna readTags simulation/Double.0", audit.Select(Refusal));
        Assert.Contains(audit, static line => line.GetProperty("event").GetString() == "subscription.ended");
        Assert.Contains(audit, static line => line.GetProperty("event").GetString() == "hello.refused");
    }

    private static string Refusal(JsonElement line) =>
        line.GetProperty("event").GetString() == "message.refused" && line.TryGetProperty("action", out JsonElement action)
            ? $"{line.GetProperty("user")} {action} {line.GetProperty("name")}"
            : string.Empty;

    // The simulation may not be known in the first moments.
    private static async Task<TagSample> ReadAsync(TagClient client, string name)
    {
        TagSample sample = default;
        await Patience.UntilAsync(
            async () =>
            {
                sample = await client.ReadAsync(name);
                return sample.Status != TagStatus.BadNodeIdUnknown && sample.Status != TagStatus.BadNoCommunication;
            },
            $"{name} is known");
        return sample;
    }

    private static Task<TagClient> ConnectAsync(string endpoint, string user) => TagClient.ConnectAsync(new FastPortClientOptions
    {
        Endpoint = endpoint,
        Token = "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(user)),
        Reconnect = false,
    });

    private string File(string name) => Path.Combine(_directory, name);

    private BridgeProcess Start() => BridgeProcess.Start(
        ["--listen", "tcp://127.0.0.1:0"],
        ("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"),
        ("Security__UsersFile", File("users")),
        ("Security__PolicyFile", File("policy")),
        ("Security__AuditFile", File("audit")),
        ("Security__ReloadInterval", "00:00:01"));
}
