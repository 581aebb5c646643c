using Xunit;

namespace FastPort.Tags.Tests;

public sealed class TagNameTreeTests
{
    /// <summary>A browsed node leads further down, and never back: a client that follows all of them would never end.</summary>
    [Theory]
    [InlineData("plant/speed", "plant", "plant/speed/limit")]
    [InlineData("/plant/speed", "/", "//")]
    [InlineData("plant//speed", "plant/", "plant///")]
    public async Task Every_name_is_found_once_from_the_root(params string[] names)
    {
        await using var source = new MemoryTagSource();
        Array.ForEach(names, name => source.Add(name, 1));
        var paths = new Queue<string>([string.Empty]);
        List<string> seen = [string.Empty];
        List<string> found = [];

        while (paths.TryDequeue(out string? path))
        {
            List<TagBrowseNode> nodes = [];
            Assert.Equal(TagStatus.Good, await source.BrowseAsync(path, nodes, CancellationToken.None));
            foreach (TagBrowseNode node in nodes)
            {
                Assert.DoesNotContain(node.Name, seen);
                seen.Add(node.Name);
                Assert.Equal(node.Name, path.Length == 0 ? node.DisplayName : $"{path}/{node.DisplayName}");
                found.AddRange(node.Kind == TagBrowseKind.Tag ? [node.Name] : []);
                if (node.HasChildren)
                {
                    paths.Enqueue(node.Name);
                }
            }
        }

        Assert.Equal(names.Order(StringComparer.Ordinal), found.Order(StringComparer.Ordinal));
    }
}
