"""The models that export.py exports: small, with random weights, each with inputs for any batch and length."""

import dataclasses
import typing

import torch
import torchvision
import transformers as hf
from torchvision import models as tv

BATCH, LENGTH = 2, 10  # of the inputs that a model is exported with
OTHER_SIZES = ((3, 7), (3, LENGTH), (BATCH, 7))  # tried in this order on what was exported


@dataclasses.dataclass
class Architecture:
    name: str
    family: str
    make: typing.Callable  # returns the module
    inputs: typing.Callable  # returns the keyword arguments for a batch and a length


ARCHITECTURES = []


def add(name, family, make, inputs):
    ARCHITECTURES.append(Architecture(name, family, make, inputs))


# torchvision

def images(name, size, channels=3):
    return lambda batch, length: {name: torch.randn(batch, channels, size, size)}


def classifier(name, size=96, **options):
    add(name, "image classification", lambda: getattr(tv, name)(num_classes=10, **options), images("x", size))


for name in ("alexnet", "vgg11", "vgg11_bn", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2",
             "squeezenet1_1", "densenet121", "shufflenet_v2_x0_5", "mobilenet_v2", "mobilenet_v3_small", "mnasnet0_5",
             "efficientnet_b0", "efficientnet_v2_s", "regnet_x_400mf", "regnet_y_400mf", "convnext_tiny", "swin_t"):
    classifier(name)
classifier("googlenet", init_weights=False)
classifier("inception_v3", 128, init_weights=False)
classifier("swin_v2_t", 128)
classifier("maxvit_t", 224)
classifier("vit_b_32", 224)

for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
    add(name, "segmentation",
        lambda name=name: getattr(tv.segmentation, name)(weights=None, weights_backbone=None, num_classes=5),
        images("input" if name.startswith("lraspp") else "x", 64))
add("raft_small", "optical flow", lambda: tv.optical_flow.raft_small(), lambda batch, length: {
    "image1": torch.randn(batch, 3, 128, 128), "image2": torch.randn(batch, 3, 128, 128), "num_flow_updates": 2})
for name in ("ssdlite320_mobilenet_v3_large", "fasterrcnn_mobilenet_v3_large_320_fpn"):
    add(name, "detection",
        lambda name=name: getattr(tv.detection, name)(weights=None, weights_backbone=None, num_classes=5),
        lambda batch, length: {"images": [torch.rand(3, 64, 64) for _ in range(batch)]})


def video(name, frames, size):
    add(name, "video", lambda: getattr(tv.video, name)(num_classes=10),
        lambda batch, length: {"x": torch.randn(batch, 3, frames, size, size)})


for name in ("r3d_18", "mc3_18", "r2plus1d_18"):
    video(name, 4, 32)
video("s3d", 16, 224)
video("mvit_v1_b", 16, 224)
video("swin3d_t", 8, 64)


# transformers: two layers each

def ids(batch, length):
    return torch.randint(3, 90, (batch, length))


def tokens(batch, length):
    return {"input_ids": ids(batch, length)}


def masked_tokens(batch, length):
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[0, length - 2:] = 0
    return {"input_ids": ids(batch, length), "attention_mask": mask}


def pairs(batch, length):
    return {"input_ids": ids(batch, length), "decoder_input_ids": ids(batch, length - 4)}


def of_transformers(name, family, inputs, model, config, attention=None, experts=None, **options):
    def make():
        made = getattr(hf, config)(**options)
        if attention is not None:
            made._attn_implementation = attention
        if experts is not None:
            made._experts_implementation = experts
        return getattr(hf, model)(made)
    add(name, family, make, inputs)


LAYERS = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SIZES = {**LAYERS, "vocab_size": 100}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**SIZES, "num_key_value_heads": 2, **SPECIAL}


def encoder(name, prefix, **options):
    of_transformers(name, "encoder", masked_tokens, f"{prefix}Model", f"{prefix}Config", **options)


encoder("bert", "Bert", **SIZES)
encoder("distilbert", "DistilBert", dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100)
encoder("roberta", "Roberta", **SIZES)
encoder("albert", "Albert", embedding_size=16, **SIZES)
encoder("electra", "Electra", embedding_size=16, **SIZES)
encoder("deberta_v2", "DebertaV2", relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], **SIZES)
encoder("mpnet", "MPNet", **SIZES)
encoder("modernbert", "ModernBert", **SIZES, **SPECIAL, cls_token_id=1, sep_token_id=2)
encoder("squeezebert", "SqueezeBert", embedding_size=32, q_groups=1, k_groups=1, v_groups=1, **SIZES)
encoder("funnel", "Funnel", vocab_size=100, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=64)
encoder("xlnet", "XLNet", vocab_size=100, d_model=32, n_layer=2, n_head=4, d_inner=64)
encoder("roformer", "RoFormer", **SIZES)
encoder("convbert", "ConvBert", embedding_size=32, **SIZES)
encoder("mobilebert", "MobileBert", embedding_size=16, intra_bottleneck_size=16, **SIZES)
encoder("esm", "Esm", pad_token_id=1, mask_token_id=2, position_embedding_type="rotary", **SIZES)
encoder("longformer", "Longformer", attention_window=4, **SIZES)
encoder("fnet", "FNet", **{k: v for k, v in SIZES.items() if k != "num_attention_heads"})
ARCHITECTURES[-1].inputs = tokens


def decoder(name, prefix, family="decoder", **options):
    of_transformers(name, family, lambda batch, length: {**tokens(batch, length), "use_cache": False},
                    f"{prefix}ForCausalLM" if prefix != "GPT2" else "GPT2LMHeadModel", f"{prefix}Config", **options)


GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 100, "n_positions": 64}
DECODERS = {
    "gpt2": ("GPT2", {**GPT, "attention": "eager"}),  # PyTorch's Meta gives what its sdpa returns other strides
    "gptj": ("GPTJ", {**GPT, "rotary_dim": 4}),
    "gpt_neox": ("GPTNeoX", SIZES),
    "gpt_bigcode": ("GPTBigCode", GPT),
    "llama": ("Llama", GROUPED),
    "mistral": ("Mistral", GROUPED),
    "qwen2": ("Qwen2", GROUPED),
    "qwen3": ("Qwen3", {**GROUPED, "head_dim": 8}),
    "gemma": ("Gemma", {**GROUPED, "head_dim": 8}),
    "gemma2": ("Gemma2", {**GROUPED, "head_dim": 8, "query_pre_attn_scalar": 8}),
    "phi": ("Phi", {**SIZES, **SPECIAL}),
    "phi3": ("Phi3", GROUPED),
    "olmo2": ("Olmo2", GROUPED),
    "stablelm": ("StableLm", GROUPED),
    "starcoder2": ("Starcoder2", GROUPED),
    "cohere": ("Cohere", GROUPED),
    "opt": ("OPT", {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64,
                    "vocab_size": 100, "max_position_embeddings": 64, "word_embed_proj_dim": 32}),
    "bloom": ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": 100}),
    "falcon": ("Falcon", {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}),
}
for name, (prefix, options) in DECODERS.items():
    decoder(name, prefix, **options)


DECODERS_OF_PARTS = {
    "deepseek_v2": ("DeepseekV2", {**SIZES, **SPECIAL, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16,
                                   "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
                                   "first_k_dense_replace": 2}),
    "deepseek_v3": ("DeepseekV3", {**SIZES, **SPECIAL, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16,
                                   "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 4,
                                   "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
                                   "moe_intermediate_size": 32, "experts": "batched_mm"}),
    "gpt_oss": ("GptOss", {**GROUPED, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2,
                           "sliding_window": 4, "experts": "batched_mm"}),
    "mpt": ("Mpt", {"d_model": 32, "n_layers": 2, "n_heads": 4, "vocab_size": 100, "max_seq_len": 64}),
    "codegen": ("CodeGen", {**GPT, "rotary_dim": 4}),
    "biogpt": ("BioGpt", SIZES),
    "lfm2": ("Lfm2", {**GROUPED, "layer_types": ["conv", "full_attention"]}),
    "glm": ("Glm", {**GROUPED, "head_dim": 8}),
    "nemotron": ("Nemotron", GROUPED),
    "persimmon": ("Persimmon", {**SIZES, **SPECIAL}),
}
for name, (prefix, options) in DECODERS_OF_PARTS.items():
    decoder(name, prefix, **options)


class WithCache(torch.nn.Module):
    """A decoder whose cache of keys and values is an argument and a result."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, past):
        cache = hf.DynamicCache()
        for i, (key, value) in enumerate(past):
            cache.update(key, value, i)
        result = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)
        return result.logits, [(layer.keys, layer.values) for layer in result.past_key_values.layers]


def cached(name, heads, head_size=8):
    plain = next(each for each in ARCHITECTURES if each.name == name)

    def inputs(batch, length):
        shape = batch, heads, length, head_size
        past = [(torch.randn(shape), torch.randn(shape)) for _ in range(2)]
        return {"input_ids": ids(batch, 3), "past": past}
    add(f"{name}_cache", "decoder with a cache", lambda: WithCache(plain.make()), inputs)


for name, heads in (("gpt2", 4), ("gpt_neox", 4), ("llama", 2), ("mistral", 2), ("qwen2", 2), ("gemma", 2), ("phi", 4),
                    ("opt", 4)):
    cached(name, heads)

# By default, experts are computed by an operator that transformers defines in Python.
decoder("mixtral_grouped", "Mixtral", "mixture of experts", num_local_experts=4, **GROUPED)
EXPERTS = {**GROUPED, "num_experts_per_tok": 2, "experts": "batched_mm"}
decoder("mixtral", "Mixtral", "mixture of experts", num_local_experts=4, **EXPERTS)
decoder("qwen2_moe", "Qwen2Moe", "mixture of experts", num_experts=4, moe_intermediate_size=32,
        shared_expert_intermediate_size=32, **EXPERTS)
decoder("olmoe", "Olmoe", "mixture of experts", num_experts=4, **EXPERTS)
decoder("granitemoe", "GraniteMoe", "mixture of experts", num_local_experts=4, **EXPERTS)
STATES = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8, "vocab_size": 100}
decoder("mamba", "Mamba", "state space", **STATES)
decoder("mamba2", "Mamba2", "state space", num_heads=4, head_dim=16, n_groups=2, expand=2, chunk_size=8, **STATES)
decoder("falcon_mamba", "FalconMamba", "state space", **STATES)
decoder("recurrent_gemma", "RecurrentGemma", "state space", block_types=["recurrent", "attention"],
        attention_window_size=8, lru_width=32, **GROUPED)
decoder("jamba", "Jamba", "state space", num_experts=2, num_experts_per_tok=1, attn_layer_period=2, attn_layer_offset=1,
        use_mamba_kernels=False, mamba_d_state=8, mamba_dt_rank=4, experts="batched_mm", **GROUPED)
decoder("bamba", "Bamba", "state space", mamba_n_heads=4, mamba_d_head=16, mamba_d_state=8, mamba_chunk_size=8,
        attn_layer_indices=[1], **GROUPED)
decoder("rwkv", "Rwkv", "state space", hidden_size=32, attention_hidden_size=32, num_hidden_layers=2, vocab_size=100)

LAYERS_OF_BOTH = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                  "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 100,
                  "decoder_start_token_id": 1, **SPECIAL}


def both(name, model, config, **options):
    of_transformers(name, "encoder-decoder", lambda batch, length: {**pairs(batch, length), "use_cache": False}, model,
                    config, **options)


T5_SIZES = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 100}
both("t5", "T5ForConditionalGeneration", "T5Config", **T5_SIZES)
both("mt5", "MT5ForConditionalGeneration", "MT5Config", **T5_SIZES)
both("bart", "BartForConditionalGeneration", "BartConfig", max_position_embeddings=64, **LAYERS_OF_BOTH)
both("pegasus", "PegasusForConditionalGeneration", "PegasusConfig", max_position_embeddings=64, **LAYERS_OF_BOTH)
both("marian", "MarianMTModel", "MarianConfig", max_position_embeddings=64, **LAYERS_OF_BOTH)
both("m2m_100", "M2M100ForConditionalGeneration", "M2M100Config", max_position_embeddings=64, **LAYERS_OF_BOTH)

both("mbart", "MBartForConditionalGeneration", "MBartConfig", max_position_embeddings=64, **LAYERS_OF_BOTH)
both("led", "LEDForConditionalGeneration", "LEDConfig", attention_window=4, max_encoder_position_embeddings=64,
     max_decoder_position_embeddings=64, **LAYERS_OF_BOTH)
both("longt5", "LongT5ForConditionalGeneration", "LongT5Config", local_radius=3, **T5_SIZES)
both("switch", "SwitchTransformersForConditionalGeneration", "SwitchTransformersConfig", num_experts=4,
     num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, **T5_SIZES)
for each in ARCHITECTURES[-2:]:  # without a mask, they make one only where nothing is traced
    each.inputs = lambda batch, length: {**masked_tokens(batch, length), "decoder_input_ids": ids(batch, length - 4),
                                         "use_cache": False}

PATCHES = {**LAYERS, "image_size": 32, "patch_size": 8}


def vision(name, prefix, model=None, size=32, **options):
    of_transformers(name, "vision", images("pixel_values", size), model or f"{prefix}Model", f"{prefix}Config",
                    **options)


vision("vit", "ViT", **PATCHES)
vision("deit", "DeiT", **PATCHES)
vision("beit", "Beit", **PATCHES)
vision("dinov2", "Dinov2", **{k: v for k, v in PATCHES.items() if k != "intermediate_size"})
vision("segformer", "Segformer", "SegformerForSemanticSegmentation", 64, num_encoder_blocks=2, depths=[1, 1],
       sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[2, 4],
       mlp_ratios=[2, 2], decoder_hidden_size=32)
vision("mobilevit", "MobileViT", size=64, image_size=64, hidden_sizes=[16, 24, 32],
       neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], num_attention_heads=4)
vision("swin", "Swin", image_size=32, patch_size=2, embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=4)
vision("poolformer", "PoolFormer", size=64, depths=[1, 1], hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
       padding=[2, 1], num_encoder_blocks=2, mlp_ratio=2.0)
vision("cvt", "Cvt", size=64, embed_dim=[16, 32, 32], depth=[1, 2, 3], num_heads=[1, 2, 2])
vision("pvt_v2", "PvtV2", size=64, image_size=64, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1],
       num_attention_heads=[1, 2, 2, 4])
vision("focalnet", "FocalNet", size=32, image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], focal_levels=[2, 2],
       focal_windows=[3, 3], hidden_sizes=[16, 32])
vision("convnextv2", "ConvNextV2", hidden_sizes=[16, 32], depths=[1, 1], num_stages=2)
vision("yolos", "Yolos", "YolosForObjectDetection", num_detection_tokens=5, **{**PATCHES, "image_size": [32, 32]})
vision("dpt", "DPT", "DPTForDepthEstimation", neck_hidden_sizes=[8, 8], backbone_out_indices=[0, 1],
       fusion_hidden_size=16, reassemble_factors=[2, 1], is_hybrid=False, **PATCHES)
vision("clip_vision", "CLIPVision", **PATCHES)
TEXT = {**SIZES, "max_position_embeddings": 64}


def two_towers(batch, length):
    return {**tokens(batch, length), "pixel_values": torch.randn(batch, 3, 32, 32)}


of_transformers("clip", "text and images", two_towers, "CLIPModel", "CLIPConfig", text_config={**TEXT, **SPECIAL},
                vision_config=PATCHES, projection_dim=16)
of_transformers("siglip", "text and images", two_towers, "SiglipModel", "SiglipConfig",
                text_config={**TEXT, **SPECIAL, "projection_size": 32}, vision_config=PATCHES)

WHISPER = {**LAYERS_OF_BOTH, "max_source_positions": 50, "max_target_positions": 32, "num_mel_bins": 8}
of_transformers("whisper", "audio", lambda batch, length: {
    "input_features": torch.randn(batch, 8, 100), "decoder_input_ids": ids(batch, length), "use_cache": False},
    "WhisperForConditionalGeneration", "WhisperConfig", **WHISPER)
WAVES = {**LAYERS, "conv_dim": (16,) * 3, "conv_stride": (5, 2, 2),
         "conv_kernel": (10, 3, 2), "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16,
         "num_conv_pos_embedding_groups": 4, "apply_spec_augment": False}


def waves(batch, length):
    return {"input_values": torch.randn(batch, 100 * length)}


of_transformers("wav2vec2", "audio", waves, "Wav2Vec2ForCTC", "Wav2Vec2Config", vocab_size=32, **WAVES)
of_transformers("hubert", "audio", waves, "HubertModel", "HubertConfig", **WAVES)
of_transformers("wavlm", "audio", waves, "WavLMModel", "WavLMConfig", **WAVES)
of_transformers("audio_spectrogram", "audio", lambda batch, length: {"input_values": torch.randn(batch, 32, 16)},
                "ASTModel", "ASTConfig", max_length=32, num_mel_bins=16, frequency_stride=8, time_stride=8,
                patch_size=8, **LAYERS)


# What reads more than text, or pictures in other ways

def boxes(batch, length):
    corner = torch.randint(0, 30, (batch, length, 2))
    return {**masked_tokens(batch, length), "bbox": torch.cat([corner, corner + 20], -1)}


encoder("splinter", "Splinter", **SIZES)
encoder("canine", "Canine", num_hash_buckets=64, num_hash_functions=4, local_transformer_stride=32, downsampling_rate=2,
        upsampling_kernel_size=2, **LAYERS, **SPECIAL)
of_transformers("layoutlm", "encoder", boxes, "LayoutLMModel", "LayoutLMConfig", max_2d_position_embeddings=64, **SIZES)
of_transformers("perceiver", "encoder", lambda batch, length: {"inputs": torch.randn(batch, length, 32)},
                "PerceiverModel", "PerceiverConfig", num_latents=8, d_latents=32, d_model=32, num_blocks=1,
                num_self_attends_per_block=2, num_self_attention_heads=4, num_cross_attention_heads=4)

RESNET = {"model_type": "resnet", "embedding_size": 16, "hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1],
          "out_features": ["stage2", "stage3", "stage4"]}
DETECTION = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
             "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_queries": 5, "backbone_config": RESNET}
for name, prefix in (("detr", "Detr"), ("conditional_detr", "ConditionalDetr"), ("deformable_detr", "DeformableDetr")):
    of_transformers(name, "detection", images("pixel_values", 64), f"{prefix}ForObjectDetection", f"{prefix}Config",
                    **DETECTION)
vision("upernet", "UperNet", "UperNetForSemanticSegmentation", 64, hidden_size=32, auxiliary_channels=16,
       auxiliary_in_channels=64, num_labels=5, pool_scales=[1, 2], backbone_config={
           "model_type": "swin", "image_size": 64, "patch_size": 4, "embed_dim": 16, "depths": [1, 1, 1, 1],
           "num_heads": [2, 2, 2, 2], "window_size": 4, "out_features": ["stage1", "stage2", "stage3", "stage4"]})
vision("depth_anything", "DepthAnything", "DepthAnythingForDepthEstimation", 56, reassemble_hidden_size=32,
       neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8, head_hidden_size=8, patch_size=14, backbone_config={
           "model_type": "dinov2", "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
           "image_size": 56, "patch_size": 14, "out_indices": [1, 2, 3, 4], "reshape_hidden_states": False})
of_transformers("sam", "vision", lambda batch, length: {
    "pixel_values": torch.randn(batch, 3, 64, 64), "input_points": torch.rand(batch, 1, 2, 2) * 60,
    "input_labels": torch.ones(batch, 1, 2, dtype=torch.int64)}, "SamModel", "SamConfig",
    vision_config={"hidden_size": 32, "output_channels": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
                   "image_size": 64, "patch_size": 16, "mlp_dim": 64, "num_pos_feats": 8, "window_size": 2,
                   "global_attn_indexes": [1]},
    prompt_encoder_config={"hidden_size": 16, "image_size": 64, "patch_size": 16, "mask_input_channels": 8},
    mask_decoder_config={"hidden_size": 16, "mlp_dim": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
                         "iou_head_hidden_dim": 16})


def clips(batch, length):
    return {"pixel_values": torch.randn(batch, 4, 3, 32, 32)}


of_transformers("videomae", "video", clips, "VideoMAEModel", "VideoMAEConfig", num_frames=4, **PATCHES)
of_transformers("timesformer", "video", clips, "TimesformerModel", "TimesformerConfig", num_frames=4, **PATCHES)
of_transformers("vivit", "video", clips, "VivitModel", "VivitConfig", num_frames=4, tubelet_size=[2, 8, 8],
                image_size=32, **LAYERS)

of_transformers("blip", "text and images", two_towers, "BlipForConditionalGeneration", "BlipConfig", projection_dim=16,
                image_text_hidden_size=16, text_config={**TEXT, **SPECIAL, "encoder_hidden_size": 32},
                vision_config=PATCHES)
of_transformers("clipseg", "text and images", two_towers, "CLIPSegForImageSegmentation", "CLIPSegConfig",
                text_config={**TEXT, **SPECIAL}, vision_config=PATCHES, projection_dim=32, extract_layers=[0, 1],
                reduce_dim=16, decoder_num_attention_heads=4, decoder_intermediate_size=32)
of_transformers("groupvit", "text and images", two_towers, "GroupViTModel", "GroupViTConfig", projection_dim=16,
                projection_intermediate_dim=16, text_config={**TEXT, **SPECIAL}, vision_config={
                    **PATCHES, "depths": [1, 1, 1], "num_group_tokens": [8, 4, 0], "num_output_groups": [8, 4, 4]})

of_transformers("wav2vec2_conformer", "audio", waves, "Wav2Vec2ConformerForCTC", "Wav2Vec2ConformerConfig",
                vocab_size=32, position_embeddings_type="relative", conv_depthwise_kernel_size=5, **WAVES)
of_transformers("speech_to_text", "audio", lambda batch, length: {
    "input_features": torch.randn(batch, 40, 16), "decoder_input_ids": ids(batch, length), "use_cache": False},
    "Speech2TextForConditionalGeneration", "Speech2TextConfig", input_feat_per_channel=16, conv_channels=16,
    max_source_positions=50, max_target_positions=32, **LAYERS_OF_BOTH)
of_transformers("dac", "audio", lambda batch, length: {"input_values": torch.randn(batch, 1, 640)}, "DacModel",
                "DacConfig", encoder_hidden_size=8, downsampling_ratios=[2, 4], upsampling_ratios=[4, 2],
                decoder_hidden_size=32, n_codebooks=2, codebook_size=16, codebook_dim=4, hidden_size=32)


def series(batch, length):
    return {"past_values": torch.randn(batch, 32, 3)}


FORECAST = {"num_input_channels": 3, "context_length": 32, "prediction_length": 4, "patch_length": 4, "patch_stride": 4}
of_transformers("patchtst", "time series", series, "PatchTSTForPrediction", "PatchTSTConfig", d_model=32,
                num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, **FORECAST)
of_transformers("patchtsmixer", "time series", series, "PatchTSMixerForPrediction", "PatchTSMixerConfig", d_model=32,
                num_layers=2, loss="mse", **FORECAST)


# PyTorch's own modules

class Recurrent(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = kind(8, 16, 2, batch_first=True)
        self.head = torch.nn.Linear(16, 4)

    def forward(self, x):
        y, state = self.layers(x)
        return {"scores": self.head(y[:, -1]), "state": state}


def rows(batch, length):
    return {"x": torch.randn(batch, length, 8)}


for name in ("LSTM", "GRU", "RNN"):
    add(name.lower(), "torch.nn", lambda name=name: Recurrent(getattr(torch.nn, name)), rows)
add("transformer", "torch.nn", lambda: torch.nn.Transformer(16, 2, 2, 2, 32, batch_first=True), lambda batch, length: {
    "src": torch.randn(batch, length, 16), "tgt": torch.randn(batch, length - 4, 16)})

VERSIONS = {"torch": torch.__version__, "torchvision": torchvision.__version__, "transformers": hf.__version__}
