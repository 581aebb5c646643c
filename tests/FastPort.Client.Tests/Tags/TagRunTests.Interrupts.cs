using FastPort.Client.Tags;
using FastPort.Programs;
using FastPort.Tags;
using Xunit;

namespace FastPort.Client.Tests.Tags;

// What a command says when Ctrl+C ends it.
public sealed partial class TagRunTests
{
    [Fact]
    public async Task An_interrupted_write_says_that_its_effect_is_not_known()
    {
        using var interrupted = new CancellationTokenSource();

        // The server interrupts the client when the write arrives, and never answers it.
        var components = new FastPortServerComponents
        {
            Authorizer = async (request, ended) =>
            {
                if (request.Type == TagMessageType.Write)
                {
                    await interrupted.CancelAsync();
                    await Task.Delay(Timeout.Infinite, ended);
                }

                return true;
            },
        };
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapTags(_tags), components);
        await server.StartAsync();
        string endpoint = server.Endpoints[0].ToString();

        TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
            () => new TagRun(new() { Endpoint = endpoint, Names = ["plant/speed", "900"] }, _output).RunAsync("write", interrupted.Token));

        Assert.Equal(ExitCode.Failed, e.ExitCode);
        Assert.Equal(
            $"{endpoint}: Interrupted. Whether the tags were written is not known; tags read shows what they are.", e.Message);
    }

    [Fact]
    public async Task Ctrl_C_fails_what_has_an_answer_and_ends_watch()
    {
        var run = new TagRun(new() { Endpoint = Endpoint, Names = ["plant/speed"] }, _output);

        Assert.Equal(ExitCode.Good, await run.RunAsync("watch", new CancellationToken(canceled: true)));
        foreach (string command in (string[])["browse", "read", "write"])
        {
            TagCommandFailedException e = await Assert.ThrowsAsync<TagCommandFailedException>(
                () => run.RunAsync(command, new CancellationToken(canceled: true)));
            Assert.Equal((ExitCode.Failed, $"Interrupted: tags {command} did not finish."), (e.ExitCode, e.Message));
        }
    }
}
