import { refusal } from '../../errors/refusal';

export const KeyErrors = Object.freeze({
  NOT_FOUND: refusal(404, 'KEY_NOT_FOUND').zh('密钥不存在').en('There is no such key'),
  NAME_TAKEN: refusal(409, 'KEY_NAME_TAKEN').zh('密钥名称已存在').en('The name of the key is already taken'),
  LIMIT: refusal(409, 'KEY_LIMIT').zh('密钥数量已达上限').en('The tenant has reached its limit of 100 keys'),
  EXCEEDS_MAKER: refusal(403, 'KEY_EXCEEDS_MAKER')
    .zh('密钥的角色、权限或数据范围超出您自身的范围')
    .en('The key has a role, a permission or a data scope that you do not have'),
});
